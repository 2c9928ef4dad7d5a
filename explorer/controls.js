// The knobs: one row of this table for each. A slider walks through `steps`; the field beside it takes any value that the recipe key takes.
import { byId, element } from './view.js';

const counts = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096];
const powers = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
const range = (from, to, step) => Array.from({ length: Math.round((to - from) / step) + 1 }, (_, i) => Number((from + i * step).toPrecision(6)));

// steps: a list, or what makes one from the simulated picture of the recipe as published; unit: what the field shows is so much smaller.
const KNOBS = [
  { key: 'ipus', label: 'IPUs', steps: powers, isDerived: true },
  { key: 'parallel.ipus_per_replica', label: 'IPUs per replica', steps: powers.slice(0, 7) },
  { key: 'parallel.replicas', label: 'Replicas', steps: counts },
  { key: 'parallel.micro_batch', label: 'Micro-batch', steps: counts },
  { key: 'parallel.gradient_accumulation', label: 'Gradient accumulation', steps: counts },
  { key: 'parallel.layers_per_ipu', label: 'Split of the layers (empty: balanced)', isText: true },
  { key: 'parallel.schedule', label: 'Pipeline schedule', isChoice: true },
  { key: 'parallel.recompute', label: 'Recomputation', isChoice: true },
  { key: 'parallel.optimizer_state', label: 'Optimizer state', isChoice: true },
  { key: 'parallel.rts', label: 'Sharded optimizer state', isChoice: true, choices: ['no', 'yes'] },
  { key: 'parallel.available_memory', label: 'Memory share for temporaries', steps: range(0.05, 1, 0.05) },
  { key: 'machine.link_bytes_per_s', label: 'IPU-Link rate, GB/s a link', steps: (p) => [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4, 8].map((x) => x * p.link_bytes_per_s), unit: 1e9 },
  { key: 'machine.clock_hz', label: 'Clock, GHz', steps: (p) => [...new Set([...range(1, 2.5, 0.05).map((x) => Math.round(x * 1e9)), p.clock_hz])].sort((a, b) => a - b), unit: 1e9 },
  { key: 'recipe.system', label: 'System', isChoice: true },
  { key: 'recipe.framework', label: 'Framework', isChoice: true },
];
export const sweepable = KNOBS.filter((knob) => !knob.isDerived && !knob.isText);

export class Controls {
  // change(sets): called with the settings whenever a knob moves.
  constructor(catalogue, change) {
    this.catalogue = catalogue;
    this.change = change;
    this.sets = {};
    this.holds = true;
    this.fields = new Map(KNOBS.map((knob) => [knob.key, this.makeKnob(knob)]));
    const hold = element('label', { class: 'check' }, element('input', { type: 'checkbox', checked: true, onchange: (event) => { this.holds = event.target.checked; } }),
      'keep the global batch by accumulation');
    byId('knobs').replaceChildren(...[...this.fields.values()].map(({ row }) => row));
    this.fields.get('parallel.gradient_accumulation').row.append(hold);
    byId('others').addEventListener('change', () => this.takeOthers());
  }

  choicesOf(knob) {
    const { runs, systems, keys } = this.catalogue;
    if (knob.key === 'recipe.system') return systems.map(({ name }) => name);
    if (knob.key === 'recipe.framework') return [...new Set(runs.map(({ framework }) => framework).filter(Boolean))].sort();
    return knob.choices ?? keys.find(({ name }) => name === knob.key).choices;
  }

  makeKnob(knob) {
    const id = `knob-${knob.key}`;
    const label = element('label', { for: id }, knob.label);
    if (knob.isChoice) {
      const select = element('select', { id, onchange: () => this.put(knob, select.value) }, ...this.choicesOf(knob).map((text) => element('option', { value: text }, text)));
      return { knob, row: element('div', { class: 'knob' }, label, select), field: select };
    }
    const field = element('input', { id, inputmode: knob.isText ? 'text' : 'decimal', onchange: () => this.put(knob, this.readField(knob, field.value)) });
    if (knob.isText) return { knob, row: element('div', { class: 'knob' }, label, field), field };
    const slider = element('input', { type: 'range', min: 0, max: 1, value: 0, 'aria-label': `${knob.label}, slider`,
      oninput: () => { this.put(knob, String(this.stepsOf(knob)[slider.value])); } });
    return { knob, row: element('div', { class: 'knob' }, label, element('div', { class: 'pair' }, slider, field)), field, slider };
  }

  readField(knob, text) {
    const value = Number(text);
    return knob.unit && text.trim() !== '' && Number.isFinite(value) ? String(Number((value * knob.unit).toPrecision(12))) : text.trim();
  }

  stepsOf(knob) {
    return typeof knob.steps === 'function' ? knob.steps(this.published) : knob.steps;
  }

  // The recipe's own values, as the picture of the recipe without settings has them.
  setRecipe(picture) {
    this.published = picture;
    this.own = new Map(picture.settings.map(([key, value]) => [key, value]));
  }

  value(key) {
    if (key === 'ipus') return String(Number(this.value('parallel.replicas')) * Number(this.value('parallel.ipus_per_replica')));
    if (key in this.sets) return this.sets[key];
    if (key === 'machine.link_bytes_per_s') return String(this.published.link_bytes_per_s);
    if (key === 'machine.clock_hz') return String(this.published.clock_hz);
    return this.own.get(key) ?? this.catalogue.keys.find(({ name }) => name === key)?.usual ?? '';
  }

  assign(key, value) {
    const isOwn = key.startsWith('machine.') ? Number(value) === this.published[key.slice('machine.'.length)] : value === (this.own.get(key) ?? null);
    if (isOwn) delete this.sets[key];
    else this.sets[key] = value;
  }

  put(knob, value) {
    const before = this.globalBatch();
    if (knob.key === 'ipus') this.putIpus(Number(value));
    else this.assign(knob.key, value);
    if (knob.key === 'parallel.ipus_per_replica') {
      this.assign('parallel.layers_per_ipu', '');
      this.growSystem();
    }
    if (knob.key === 'parallel.replicas') this.growSystem();
    if (this.holds && before && ['ipus', 'parallel.replicas', 'parallel.micro_batch'].includes(knob.key)) this.keepBatch(before);
    this.show();
    this.change(this.sets);
  }

  globalBatch() {
    return ['parallel.micro_batch', 'parallel.replicas', 'parallel.gradient_accumulation'].reduce((product, key) => product * (Number(this.value(key)) || 1), 1);
  }

  keepBatch(before) {
    const rest = Number(this.value('parallel.micro_batch')) * Number(this.value('parallel.replicas'));
    if (rest > 0) this.assign('parallel.gradient_accumulation', String(Math.max(1, Math.round(before / rest))));
  }

  putIpus(ipus) {
    const each = Math.min(ipus, Number(this.value('parallel.ipus_per_replica')) || 1);
    this.assign('parallel.ipus_per_replica', String(each));
    this.assign('parallel.replicas', String(Math.max(1, Math.floor(ipus / each))));
    this.growSystem();
  }

  // The smallest system of the same boards that has enough IPUs.
  growSystem() {
    const needs = Number(this.value('ipus'));
    const { systems } = this.catalogue;
    const now = systems.find(({ name }) => name === this.value('recipe.system'));
    if (!now || now.ipus >= needs) return;
    const larger = systems.filter(({ board, ipus }) => board === now.board && ipus >= needs).sort((a, b) => a.ipus - b.ipus)[0];
    if (larger) this.assign('recipe.system', larger.name);
  }

  takeOthers() {
    for (const key of Object.keys(this.sets)) if (!this.fields.has(key)) delete this.sets[key];
    for (const line of byId('others').value.split('\n').map((text) => text.trim()).filter(Boolean)) {
      const at = line.indexOf('=');
      this.sets[line.slice(0, at === -1 ? line.length : at).trim()] = at === -1 ? '' : line.slice(at + 1).trim();
    }
    this.change(this.sets);
  }

  show() {
    for (const { knob, row, field, slider } of this.fields.values()) {
      const value = this.value(knob.key);
      const shown = knob.unit && value !== '' ? String(Number((Number(value) / knob.unit).toPrecision(6))) : value;
      if (knob.isChoice && ![...field.options].some((option) => option.value === value)) field.append(element('option', { value }, value || 'not set'));
      field.value = knob.isChoice ? value : shown;
      row.classList.toggle('changed', knob.key in this.sets);
      if (!slider) continue;
      const steps = this.stepsOf(knob);
      const nearest = steps.reduce((best, step, i) => (Math.abs(step - Number(value)) < Math.abs(steps[best] - Number(value)) ? i : best), 0);
      slider.max = steps.length - 1;
      slider.value = Number.isFinite(Number(value)) ? nearest : 0;
      slider.setAttribute('aria-valuetext', shown);
    }
    byId('others').value = Object.entries(this.sets).filter(([key]) => !this.fields.has(key)).map(([key, value]) => `${key}=${value}`).join('\n');
  }
}
