// The two questions that are asked most: what is faster, and what fits. The answers are those of `podbench search` and `podbench fit`.
import { commandLine, runName, settingsOf } from './state.js';
import { bytes, copyButton, element, joules, likely, number, seconds, signedPercent, table } from './view.js';
import { Work } from './work.js';

const OBJECTIVES = [['', 'the fastest', (r) => `${number(r.throughput_samples_per_s)} samples/s`],
  ['time-to-train', 'the shortest training', (r) => seconds(r.time_to_train_s)],
  ['energy', 'the least energy', (r) => joules(r.energy_site_to_train_j ?? r.energy_site_j ?? r.energy_j ?? r.energy_per_step_j)]];

const setsOf = (list) => Object.fromEntries(list.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]));
const takeButton = (go, sets, label = 'Show it') => element('button', { type: 'button', onclick: () => go(setsOf(sets)) }, label);
// What a search does not choose: the machine, the framework, the mode.
const isGiven = (key) => !key.startsWith('parallel.');
const failed = ({ messages }) => element('p', { class: 'error' }, messages.trim() || 'No answer.');

export class Find {
  // ipusNow(): of the configuration that is shown; go(sets, base): moves the page to a configuration, which changes these settings of the base.
  constructor(place, pack, stateNow, ipusNow, go) {
    Object.assign(this, { stateNow, ipusNow });
    this.go = (sets) => go(sets, this.base);
    this.objective = element('select', { id: 'find-objective' }, ...OBJECTIVES.map(([name, label]) => element('option', { value: name }, label)));
    this.likely = element('select', { id: 'find-likely' }, ...[90, 50, 99, 0].map((share) => element('option', { value: share }, share ? `fits with ${share} %` : 'may fit')));
    this.most = element('select', { id: 'find-seconds' }, ...[20, 60, 300].map((s) => element('option', { value: s }, `${s} s at most`)));
    this.keeps = element('input', { type: 'checkbox', id: 'find-keeps' });
    this.out = element('div', { 'aria-live': 'polite' });
    const labelled = (label, field) => element('label', {}, label, field);
    const bar = element('div');
    place.replaceChildren(element('div', { class: 'fields' }, labelled('Find', this.objective), labelled('that', this.likely), labelled('within', this.most),
      element('button', { type: 'button', id: 'find-go', onclick: () => this.search() }, 'Search')),
      element('label', { class: 'check' }, this.keeps, 'keep the settings of [parallel] that I changed'), bar, this.out);
    this.work = new Work(bar, pack);
  }

  async search() {
    const { run, sets } = this.stateNow();
    this.base = Object.fromEntries(Object.entries(sets).filter(([key]) => this.keeps.checked || isGiven(key)));
    const state = { run, sets: this.base };
    const [minimise, , text] = OBJECTIVES.find(([name]) => name === this.objective.value);
    const limit = [`fits=${Number(this.likely.value) / 100}..`, `ipus=${this.ipusNow()}`];
    const more = [...(minimise ? [`--minimise ${minimise}`] : []), ...limit.map((one) => `--limit ${one}`), `--seconds ${this.most.value}`];
    this.out.replaceChildren();
    const answer = await this.work.ask({ command: 'search', arguments: [state.run], set: settingsOf(state), limit, seconds: this.most.value, format: 'json',
      ...(minimise ? { minimise } : {}) }, 'Searching');
    this.out.replaceChildren(...(answer.isStopped ? this.stopped(answer) : answer.output ? this.found(JSON.parse(answer.output), text) : [failed(answer)]),
      element('p', { class: 'buttons' }, copyButton('Copy the command', () => commandLine('search', state, more))));
  }

  // What a search told last, before it was stopped: its best so far, and the settings of that.
  stopped({ last }) {
    const [so, ...sets] = last.split(/ with --set | --set /);
    return [element('p', {}, `Stopped while ${so || 'it began'}.`), sets.length ? element('ul', { class: 'sets' }, ...sets.map((setting) => element('li', {}, element('code', {}, setting)))) : null,
      sets.length ? element('p', { class: 'buttons' }, takeButton(this.go, sets, 'Move the page there')) : null].filter(Boolean);
  }

  found(answer, text) {
    const { best, recipe, gain, validity, pareto_front: front, simulated, configurations } = Array.isArray(answer) ? answer[0] : answer;
    const counted = `${number(simulated)} of ${number(configurations)} configurations were simulated.`;
    if (!best) return [element('p', {}, `Nothing that was tried keeps the limits; ${counted}`)];
    if (best.set.length === 0) return [element('p', {}, `Nothing better was found than this configuration, ${text(best)}; ${counted}`)];
    const worth = gain.low === null ? '' : ` Judged by pairs of published runs, expect ${signedPercent(gain.expected - 1)} (90 % interval ${signedPercent(gain.low - 1)} to ${signedPercent(gain.high - 1)}).`;
    const novel = gain.never_published.length ? `No published run of this framework had ${gain.never_published.join(', ')}.` : '';
    return [
      element('p', {}, element('strong', {}, text(best)), `, and fits, ${likely(best.fits_probability)}; `
        + (recipe.fits ? `without the settings below ${text(recipe)}: ${signedPercent(gain.throughput_ratio - 1)} in throughput, predicted and not tested.${worth}` : 'without the settings below it does not fit.')),
      novel ? element('p', { class: 'note' }, novel) : null,
      validity?.guess ? element('p', { class: 'note' }, 'This is a guess: no published run is near.') : null,
      element('ul', { class: 'sets' }, ...best.set.map((setting) => element('li', {}, element('code', {}, setting)))),
      element('p', { class: 'buttons' }, takeButton(this.go, best.set, 'Move the page there')),
      front.length > 1 ? element('details', {}, element('summary', {}, 'With less memory'),
        table('The best for each amount of memory, of those simulated', ['fullest tile', 'reaches', ''], front.map((x) => [bytes(x.memory_peak_bytes_per_tile), text(x), takeButton(this.go, x.set)]))) : null,
      element('p', { class: 'note' }, counted),
    ].filter(Boolean);
  }
}

const SIZES = { 'parallel.micro_batch': 'Largest micro-batch', 'data.sequence_length': 'Longest sequence', 'parallel.ipus_per_replica': 'Fewest IPUs of a replica' };

export class Fit {
  constructor(place, pack, stateNow, go) {
    Object.assign(this, { stateNow, go });
    this.size = element('input', { id: 'fit-size', inputmode: 'numeric', placeholder: 'its own' });
    this.out = element('div', { 'aria-live': 'polite' });
    const bar = element('div');
    place.replaceChildren(element('div', { class: 'fields' }, element('label', {}, 'Micro-batch that should fit', this.size),
      element('button', { type: 'button', id: 'fit-go', onclick: () => this.ask() }, 'What fits?')), bar, this.out);
    this.work = new Work(bar, pack);
  }

  async ask() {
    const state = this.stateNow();
    const size = Number(this.size.value);
    this.out.replaceChildren();
    const answer = await this.work.ask({ command: 'fit', arguments: [state.run], set: settingsOf(state), format: 'json', ...(size ? { size } : {}) }, 'Trying sizes');
    this.out.replaceChildren(...(answer.output ? this.sizes(JSON.parse(answer.output)) : [failed(answer)]),
      element('p', { class: 'buttons' }, copyButton('Copy the command', () => commandLine('fit', state, size ? [`--size ${size}`] : []))));
  }

  sizes(answer) {
    const { limits, changes, target } = Array.isArray(answer) ? answer[0] : answer;
    const beyond = ({ next, next_shortfall_bytes: short }) => (next === null ? '' : short === null ? `${next} is refused` : `${next} takes ${bytes(short)} too many`);
    const row = (x) => [SIZES[x.key] ?? x.key, x.fits ? String(x.fits) : 'none', x.fits_surely ? String(x.fits_surely) : 'none', beyond(x),
      x.fits && x.fits !== x.own ? takeButton(this.go, [`${x.key}=${x.fits}`]) : ''];
    const change = (x) => [x.what, x.fits ? `fits, ${likely(x.fits_probability)}` : `${bytes(x.shortfall_bytes_per_tile)} too many`, signedPercent(x.time_cost),
      takeButton(this.go, [...(target ? [`parallel.micro_batch=${target.micro_batch}`] : []), ...x.set])];
    return [table('Sizes that fit', ['', 'fits', 'with 90 % certainty', 'the next one', ''], limits.map(row)),
      changes.length ? table(`What makes micro-batch ${target.micro_batch} fit, cheapest first`, ['change', 'then', 'time of a sample', ''], changes.map(change)) : null].filter(Boolean);
  }
}

// One line, as `podbench ask` takes it. answered(name, recipe's text): called with the recipe that it writes.
export class Ask {
  constructor(place, pack, { answered, say, fileNamed }) {
    this.work = new Work(place, pack);
    place.addEventListener('submit', async (event) => {
      event.preventDefault();
      const words = place.querySelector('input').value.trim().split(/\s+/).filter(Boolean);
      if (words.length === 0) return;
      say('');
      const out = `/asked-${Date.now()}.ini`;
      const answer = await this.work.ask({ command: 'ask', arguments: words.map(fileNamed), seconds: '20', out, format: 'json' }, 'Asking');
      if (answer.isStopped) return;
      if (!answer.output) say(answer.messages.trim(), true);
      else answered(`${runName(JSON.parse(answer.output).result.id)}.ini`, await this.work.readFile(out));
    });
  }
}
