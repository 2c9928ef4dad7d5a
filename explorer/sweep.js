// One key over several values is a line, two are a map. The rows are those of `podbench sweep`.
import uPlot from 'uplot';
import { sweepable } from './controls.js';
import { commandLine, settingsOf } from './state.js';
import { byId, copyButton, element, number } from './view.js';

const METRICS = [['throughput_samples_per_s', 'samples/s'], ['time_to_train_s', 'seconds to train'], ['mfu', 'MFU'], ['energy_j', 'J to train'],
  ['memory_peak_bytes_per_tile', 'bytes on the fullest tile'], ['step_time_s', 'seconds a step']];
const MOST_ROWS = 400;

// Cells of podbench's CSV are quoted where they hold a comma.
function readCsv(text) {
  const rows = text.trim().split('\n').map((line) => [...line.matchAll(/("([^"]|"")*"|[^,]*)(,|$)/g)].map(([, cell]) => cell.replace(/^"|"$/g, '').replaceAll('""', '"')));
  return rows.slice(1).map((row) => Object.fromEntries(rows[0].map((name, i) => [name, row[i]])));
}

export class Sweep {
  // go(sets): moves the page to a configuration that was clicked.
  constructor(place, client, stateNow, go) {
    Object.assign(this, { client, stateNow, go });
    const keys = (none) => [...(none ? [element('option', { value: '' }, none)] : []), ...sweepable.map(({ key, label }) => element('option', { value: key }, label))];
    const labelled = (label, field) => element('label', {}, label, field);
    this.x = element('select', { id: 'sweep-x', onchange: () => this.propose() }, ...keys());
    this.y = element('select', { id: 'sweep-y', onchange: () => this.propose() }, ...keys('none: a line'));
    this.xs = element('input', { id: 'sweep-xs' });
    this.ys = element('input', { id: 'sweep-ys' });
    this.metric = element('select', { id: 'sweep-metric', onchange: () => this.draw() }, ...METRICS.map(([name, label]) => element('option', { value: name }, label)));
    this.out = element('div', { 'aria-live': 'polite' });
    this.x.value = 'parallel.micro_batch';
    place.replaceChildren(element('div', { class: 'fields' }, labelled('Key', this.x), labelled('Values', this.xs), labelled('Second key', this.y), labelled('Its values', this.ys),
      labelled('Shows', this.metric), element('button', { type: 'button', id: 'sweep-go', onclick: () => this.run() }, 'Sweep')), this.out);
    this.propose();
    new ResizeObserver(() => this.plot?.setSize({ width: this.out.clientWidth, height: 300 })).observe(this.out);
  }

  propose() {
    const usual = { 'parallel.available_memory': '0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9', 'machine.link_bytes_per_s': '4e9,8e9,16e9,32e9,64e9', 'machine.clock_hz': '1.2e9..2.4e9+1e8' };
    const values = (key) => {
      const field = byId(`knob-${key}`);
      return usual[key] ?? (field?.options ? [...field.options].map((option) => option.value).join(',') : '1,2,3,4,6,8,12,16');
    };
    if (this.x.value !== this.lastX) this.xs.value = values(this.x.value);
    if (this.y.value !== this.lastY) this.ys.value = this.y.value ? values(this.y.value) : '';
    this.lastX = this.x.value;
    this.lastY = this.y.value;
  }

  async run() {
    const state = this.stateNow();
    const swept = [this.x.value, this.y.value].filter(Boolean);
    const sets = Object.fromEntries(Object.entries(state.sets).filter(([key]) => !swept.includes(key)));
    const over = [`${this.x.value}=${this.xs.value}`, ...(this.y.value ? [`${this.y.value}=${this.ys.value}`] : [])];
    if (this.xs.value.split(',').length * Math.max(1, this.ys.value.split(',').length) > MOST_ROWS) {
      this.out.replaceChildren(element('p', { class: 'error' }, `More than ${MOST_ROWS} configurations: the program's own sweep is the place for them.`));
      return;
    }
    this.out.replaceChildren(element('p', { class: 'note' }, 'Simulating…'));
    const swept_state = { run: state.run, sets };
    const answer = await this.client.ask({ command: 'sweep', arguments: [state.run], set: settingsOf(swept_state), over, format: 'csv' });
    this.command = commandLine('sweep', swept_state, over.map((text) => `--over '${text}'`));
    this.rows = answer.output ? readCsv(answer.output) : [];
    this.problem = this.rows.length ? '' : answer.messages;
    this.keys = swept;
    this.draw();
  }

  draw() {
    this.plot?.destroy();
    this.plot = null;
    if (!this.rows) return;
    if (!this.rows.length) {
      this.out.replaceChildren(element('p', { class: 'error' }, this.problem));
      return;
    }
    const refused = this.rows.filter((row) => row.status !== 'fits' && row.status !== 'does_not_fit' && !row.throughput_samples_per_s).length;
    const guessed = this.rows.filter((row) => row.guess === 'yes').length;
    const note = element('p', { class: 'note' }, `${this.rows.length} configurations; ${this.rows.filter((row) => row.fits === 'yes').length} fit, ${refused} are refused.${guessed ? ` ${guessed} are guesses: no published run is near.` : ''} `,
      copyButton('Copy the command', () => this.command));
    if (this.keys.length === 2) this.out.replaceChildren(note, this.map());
    else this.line(note);
  }

  valueOf(row) { return row[this.metric.value] === '' ? null : Number(row[this.metric.value]); }
  configuration(row) { return Object.fromEntries(this.keys.map((key) => [key, row[key]])); }

  line(note) {
    const labels = this.rows.map((row) => row[this.keys[0]]);
    const isNumeric = labels.every((label) => Number.isFinite(Number(label)));
    const xs = isNumeric ? labels.map(Number) : labels.map((_, i) => i);
    const order = xs.map((_, i) => i).sort((a, b) => xs[a] - xs[b]);
    const series = (fits) => order.map((i) => ((this.rows[i].fits === 'yes') === fits ? this.valueOf(this.rows[i]) : null));
    const ink = getComputedStyle(this.out).color;
    const axis = { stroke: ink, grid: { stroke: 'rgba(128,128,128,.25)' }, ticks: { stroke: 'rgba(128,128,128,.25)' } };
    const place = element('div');
    this.out.replaceChildren(note, place, element('p', { class: 'buttons' }, ...order.map((i) =>
      element('button', { type: 'button', onclick: () => this.go(this.configuration(this.rows[i])) }, `${labels[i]}: ${number(this.valueOf(this.rows[i]))}${this.rows[i].fits === 'yes' ? '' : ' (does not fit)'}`))));
    const label = METRICS.find(([name]) => name === this.metric.value)[1];
    this.plot = new uPlot({
      width: this.out.clientWidth, height: 300, scales: { x: { time: false } },
      axes: [{ ...axis, label: this.keys[0], values: isNumeric ? undefined : (_, ticks) => ticks.map((t) => labels[t] ?? '') }, { ...axis, label, size: 70, values: (_, ticks) => ticks.map(number) }],
      series: [{ label: this.keys[0], value: (_, x) => (isNumeric ? number(x) : labels[x]) },
        { label: `${label}, fits`, stroke: '#0072b2', width: 2, points: { show: true, size: 8 }, spanGaps: false },
        { label: `${label}, if it fitted`, stroke: '#d55e00', width: 0, points: { show: true, size: 8, fill: 'transparent' } }],
    }, [order.map((i) => xs[i]), series(true), series(false)], place);
  }

  map() {
    const [kx, ky] = this.keys;
    const values = (key) => [...new Set(this.rows.map((row) => row[key]))];
    const numbers = this.rows.map((row) => this.valueOf(row)).filter((x) => x !== null);
    const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
    const cell = (x, y) => {
      const row = this.rows.find((r) => r[kx] === x && r[ky] === y);
      const value = row && this.valueOf(row);
      if (!row || value === null) return element('td', { class: 'refused', title: row?.reason ?? '' }, 'refused');
      const shade = high > low ? (value - low) / (high - low) : 1;
      return element('td', { style: `--shade:${Math.round(15 + 55 * shade)}%`, class: row.fits === 'yes' ? 'cell' : 'cell unfit' },
        element('button', { type: 'button', onclick: () => this.go(this.configuration(row)), 'aria-label': `${kx} ${x}, ${ky} ${y}: ${number(value)}${row.fits === 'yes' ? '' : ', does not fit'}${row.guess === 'yes' ? ', a guess' : ''}` }, number(value)));
    };
    return element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Map of the sweep' }, element('table', { class: 'map' },
      element('caption', {}, `${METRICS.find(([name]) => name === this.metric.value)[1]}; struck through: does not fit. A cell moves the page to its configuration.`),
      element('thead', {}, element('tr', {}, element('th', {}, `${ky} \\ ${kx}`), ...values(kx).map((x) => element('th', { scope: 'col' }, x)))),
      element('tbody', {}, ...values(ky).map((y) => element('tr', {}, element('th', { scope: 'row' }, y), ...values(kx).map((x) => cell(x, y)))))));
  }
}
