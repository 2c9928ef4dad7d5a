// One step against the clock: a row for each IPU of the first replica. Wheel or + and − zoom, dragging or the arrow keys move, the mouse asks.
import { colourOf, element, hideTip, number, seconds, showTip } from './view.js';

const ROW = 22;
const GAP = 4;
const LEFT = 52;
const AXIS = 20;

// The seven numbers of each span, as explorer/entry.c writes them.
const spansOf = (flat) => Array.from({ length: flat.length / 7 }, (_, i) => {
  const [ipu, start, length, period, repeat, kind, which] = flat.slice(7 * i, 7 * i + 7);
  return { ipu, start, length, period, repeat, kind, which, end: start + period * (repeat - 1) + length };
});

// Each span's `first`: where the run of repeats that it belongs to begins on its IPU.
function alignRuns(spans) {
  const firsts = new Map();
  const run = ({ ipu, period, repeat }) => `${ipu} ${period} ${repeat}`;
  for (const span of spans) if (!(firsts.get(run(span)) <= span.start)) firsts.set(run(span), span.start);
  for (const span of spans) span.first = firsts.get(run(span));
  return spans;
}

export class Timeline {
  constructor(place) {
    this.canvas = element('canvas', { tabindex: '0', role: 'img' });
    this.note = element('p', { class: 'note' });
    this.legend = element('ul', { class: 'legend', 'aria-hidden': 'true' });
    const button = (label, name, act) => element('button', { type: 'button', 'aria-label': name, onclick: act }, label);
    place.replaceChildren(this.note, this.legend, element('p', { class: 'buttons' },
      button('+', 'Zoom in', () => this.zoom(0.5)), button('−', 'Zoom out', () => this.zoom(2)),
      button('◀', 'Earlier', () => this.move(-0.25)), button('▶', 'Later', () => this.move(0.25)), button('Whole step', 'Show the whole step', () => this.whole())), this.canvas);
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !event.shiftKey && document.activeElement !== canvas) return;     // the page scrolls until the timeline is clicked
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(event));
    }, { passive: false });
    let from = null;
    canvas.addEventListener('pointerdown', (event) => { from = { x: event.clientX, view: this.view }; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener('pointerup', () => { from = null; });
    canvas.addEventListener('pointermove', (event) => {
      if (from && event.buttons) this.look(from.view.map((t) => t - ((event.clientX - from.x) / this.width) * (from.view[1] - from.view[0])));
      else this.ask(event);
    });
    canvas.addEventListener('pointerleave', hideTip);
    const keys = { ArrowLeft: () => this.move(-0.1), ArrowRight: () => this.move(0.1), '+': () => this.zoom(0.8), '=': () => this.zoom(0.8), '-': () => this.zoom(1.25), Home: () => this.whole() };
    canvas.addEventListener('keydown', (event) => {
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
  }

  show(picture) {
    const { step_cycles: cycles, clock_hz: hz, spans, span_names: names } = picture;
    Object.assign(this, { cycles, hz, names, spans: alignRuns(spansOf(spans)), nRows: picture.memory.length });
    const kinds = [...new Set(this.spans.map((span) => span.kind))].sort((a, b) => a - b);
    this.legend.replaceChildren(...kinds.map((kind) => element('li', {}, element('i', { style: `background:${colourOf(names[kind], kind)}` }), names[kind])));
    this.note.textContent = `${seconds(cycles / hz)} on ${this.nRows} IPU${this.nRows > 1 ? 's' : ''} of one replica. Zoom with + and −, or the wheel once it is clicked; drag to move.`;
    this.canvas.setAttribute('aria-label', `Timeline of one step, ${seconds(cycles / hz)}, ${this.nRows} rows; the tables above have its numbers`);
    this.view = [0, cycles];
    this.draw();
  }

  get width() { return Math.max(1, this.canvas.clientWidth - LEFT); }
  whole() { this.look([0, this.cycles]); }
  timeAt(event) {
    const x = event.clientX - this.canvas.getBoundingClientRect().left - LEFT;
    return this.view[0] + (x / this.width) * (this.view[1] - this.view[0]);
  }
  zoom(factor, at = (this.view[0] + this.view[1]) / 2) { this.look(this.view.map((t) => at + (t - at) * factor)); }
  move(share) { this.look(this.view.map((t) => t + share * (this.view[1] - this.view[0]))); }

  look([from, to]) {
    const length = Math.min(this.cycles, Math.max(to - from, this.cycles * 1e-5));
    const start = Math.min(Math.max(0, from), this.cycles - length);
    this.view = [start, start + length];
    this.draw();
  }

  draw() {
    if (!this.spans || !this.canvas.clientWidth) return;
    const scale = window.devicePixelRatio || 1;
    const height = this.nRows * (ROW + GAP) + AXIS;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = this.canvas.clientWidth * scale;
    this.canvas.height = height * scale;
    const c = this.canvas.getContext('2d');
    c.scale(scale, scale);
    this.drawAxis(c, height);
    c.save();
    c.beginPath();
    c.rect(LEFT, 0, this.width, height);
    c.clip();
    for (const span of this.spans) this.drawSpan(c, span);
    c.restore();
  }

  drawAxis(c, height) {
    c.fillStyle = getComputedStyle(this.canvas).color;
    c.font = '12px system-ui, sans-serif';
    c.textBaseline = 'middle';
    for (let i = 0; i < this.nRows; i++) c.fillText(`IPU ${i}`, 0, i * (ROW + GAP) + ROW / 2);
    const ticks = this.width > 500 ? 4 : 2;
    for (let i = 0; i <= ticks; i++) {
      c.textAlign = i === 0 ? 'left' : i === ticks ? 'right' : 'center';
      c.fillText(seconds((this.view[0] + ((this.view[1] - this.view[0]) * i) / ticks) / this.hz).replace('–', '0'), LEFT + (this.width * i) / ticks, height - AXIS / 2);
    }
    c.textAlign = 'left';
  }

  drawSpan(c, span) {
    const perPixel = this.width / (this.view[1] - this.view[0]);
    if (span.end < this.view[0] || span.start > this.view[1]) return;
    const y = span.ipu * (ROW + GAP);
    const x = (t) => LEFT + (t - this.view[0]) * perPixel;
    c.fillStyle = colourOf(this.names[span.kind], span.kind);
    if (span.repeat > 1 && span.period * perPixel < 6) {
      this.drawFine(c, span, x(span.start), Math.max(0.5, (span.end - span.start) * perPixel));
      return;
    }
    const width = span.length * perPixel;
    const first = Math.max(0, Math.floor((this.view[0] - span.start - span.length) / (span.period || Infinity)));
    for (let i = first; i < span.repeat && span.start + i * span.period <= this.view[1]; i++)
      c.fillRect(x(span.start + i * span.period), y, Math.max(0.5, width > 4 ? width - 1 : width), ROW);
  }

  // Repeats too fine to be seen are a band as high as their share of the period, where they stand in it.
  drawFine(c, span, x, width) {
    const y = span.ipu * (ROW + GAP);
    const phase = ((span.start - span.first) % span.period) / span.period;
    const share = span.length / span.period;
    c.fillRect(x, y + phase * ROW, width, Math.min(share, 1 - phase) * ROW);
    if (phase + share > 1) c.fillRect(x, y, width, (phase + share - 1) * ROW);
  }

  ask(event) {
    if (!this.spans) return;
    const row = Math.floor((event.clientY - this.canvas.getBoundingClientRect().top) / (ROW + GAP));
    const time = this.timeAt(event);
    const hits = this.spans.filter((s) => s.ipu === row && time >= s.start && time < s.end && (s.repeat === 1 || (time - s.start) % s.period < s.length));
    if (!hits.length) return hideTip();
    showTip(event, hits.map((s) => {
      const nth = s.repeat > 1 ? Math.floor((time - s.start) / s.period) : 0;
      const batch = s.kind < 2 ? `, micro-batch ${s.which + nth}` : '';
      return `IPU ${row}: ${this.names[s.kind]}${batch}, ${seconds(s.length / this.hz)} (${number(s.length)} cycles) from ${seconds((s.start + nth * s.period) / this.hz).replace('–', '0 s')}`;
    }).slice(0, 3).join('\n'));
  }
}
