// The page: a state, kept in the address, and what is drawn from it. Each change asks for a picture first, which is drawn at once; when
// nothing newer waits, the whole answer of `podbench run` follows, with its interval and warnings.
import { drawBars } from './bars.js';
import { Chooser } from './chooser.js';
import { Client, newestOnly } from './client.js';
import { drawCompare, runCommand } from './compare.js';
import { Controls } from './controls.js';
import { keepRecipe, modelNamed, modelOf, openedText, openFiles, recipeFor } from './files.js';
import { Ask, Find, Fit } from './find.js';
import { unpackFiles } from './pack.js';
import { readAddress, recipeText, runName, settingsOf, writeAddress } from './state.js';
import { Sweep } from './sweep.js';
import { Timeline } from './timeline.js';
import { byId, bytes, copyButton, element, joules, likely, number, percent, seconds, signedPercent } from './view.js';

const FIRST = 'mlperf-v2.0-closed-bow-pod16-bert-large';
const SETTLE_MS = 100;
const text = (id) => byId(id).textContent;
const catalogue = JSON.parse(text('catalogue'));
const { start, first, opening, pack } = window.engine;
const client = new Client(start, pack, first, opening);
const pictures = new Map();             // by state; the newest ones
let state = readAddress(location.hash, FIRST);
let answered = null;                    // what the last picture was drawn from
let settled = 0;

const controls = new Controls(catalogue, (sets) => update({ ...state, sets: { ...sets } }));
const timeline = new Timeline(byId('timeline'));
const chooser = new Chooser(catalogue.runs, (run) => choose(run));
function go(sets, base = state.sets) {
  controls.sets = { ...base };
  for (const [key, value] of Object.entries(sets)) controls.assign(key, value);
  controls.show();
  update({ ...state, sets: { ...controls.sets } });
}
new Sweep(byId('sweep'), client, () => state, go);
new Find(byId('find'), pack, () => state, () => answered.now.result.ipus, go);
new Fit(byId('fit'), pack, () => state, go);

// ---- asking

async function picture({ run, sets }) {
  const name = JSON.stringify([run, sets]);
  if (!pictures.has(name)) {
    const answer = await client.ask({ command: 'picture', arguments: [run], set: settingsOf({ sets }) });
    if (answer.status !== 0) throw new Error(answer.messages.trim());
    if (pictures.size > 50) pictures.clear();
    pictures.set(name, JSON.parse(answer.output));
  }
  return pictures.get(name);
}

const redraw = newestOnly(async (wanted) => {
  const began = performance.now();
  try {
    const published = await picture({ run: wanted.run, sets: {} });
    const now = await picture(wanted);
    const kept = wanted.kept ? await picture(wanted.kept) : null;
    const isFirst = !answered;
    answered = { wanted, published, now, kept };
    drawNumbers(answered);
    if (isFirst) await new Promise(requestAnimationFrame);      // the numbers are seen before the rest is drawn
    drawViews(answered);
    say('');
    document.documentElement.dataset.redrawMs = (performance.now() - began).toFixed(1);
    document.documentElement.dataset.drawn = writeAddress(wanted);
  } catch (error) {
    say(error.message, true);
    document.documentElement.dataset.drawn = writeAddress(wanted);
  }
  clearTimeout(settled);
  settled = setTimeout(() => settle(wanted), SETTLE_MS);
});

// The slower part of an answer, once the hand rests.
async function settle(wanted) {
  try {
    if (answered?.wanted === wanted) {
      const answer = await client.ask({ command: 'run', arguments: [wanted.run], set: settingsOf(wanted), format: 'json' });
      if (wanted === state && answer.output) drawTrust(JSON.parse(answer.output)[0], answer.messages);
      if (wanted === state) await drawCompare(byId('compare'), { client, state: wanted, pictures: answered, keep: () => update({ ...state, kept: { run: state.run, sets: { ...state.sets } } }), drop: () => update({ ...state, kept: null }) });
    }
  } finally {
    document.documentElement.dataset.settled = wanted === state ? 'yes' : 'no';
  }
}

// What tests wait for: drawn is the address whose picture is seen, settled says that its whole answer is, too.
function take(next) {
  state = next;
  Object.assign(document.documentElement.dataset, { settled: 'no', drawn: '' });
  redraw(state);
}

function update(next) {
  history.replaceState(null, '', writeAddress(next));
  take(next);
}

function say(message, isError = false) {
  byId('status').textContent = message;
  byId('status').classList.toggle('error', isError);
  document.body.classList.toggle('stale', isError);
}

// ---- drawing

function tile(name, value, note, isBad = false) {
  return element('div', isBad ? { class: 'bad' } : {}, element('dt', {}, name), element('dd', {}, value, note ? element('small', {}, note) : null));
}
const tooMany = (r) => `${bytes(r.memory_shortfall_bytes_per_tile)} too many on the fullest tile`;

// The interval stands under the throughput, too.
const noInterval = ({ foreign }) => (foreign ? `no interval: no published run has ${foreign}` : 'no interval: nothing published is near');
function drawInterval(v) {
  const { interval_low: low, interval_high: high } = v;
  byId('tiles').querySelector('dd').append(element('small', {}, low ? `${v.guess ? 'a guess, ' : ''}90 %: ${number(low)} to ${number(high)}` : noInterval(v)));
}

function drawTiles({ now, kept, published }) {
  const r = now.result;
  const base = (kept ?? published).result;
  const change = (of) => (of(r) && of(base) && of(r) !== of(base) ? `${signedPercent(of(r) / of(base) - 1)} against ${kept ? 'the kept one' : 'the recipe'}` : '');
  const room = now.tile_memory_bytes - r.memory_peak_bytes_per_tile;
  const power = r.ipu_power_w ? `; ${number(r.ipu_power_w)} ± ${number(r.ipu_power_error_w)} W an IPU` : '';
  const known = r.fits_published ? `published: ${r.fits_published}; by its bytes alone ` : '';
  const fits = r.fits ? (r.fits_probability >= 0.9 ? 'yes' : 'barely') : 'no';
  byId('tiles').replaceChildren(
    tile(r.fits ? 'Throughput' : 'Throughput if it fitted', `${number(r.throughput_samples_per_s)} samples/s`, r.fits ? change((x) => x.throughput_samples_per_s) : 'it does not fit', !r.fits),
    r.time_to_train_s ? tile('Time to train', seconds(r.time_to_train_s), change((x) => x.time_to_train_s)) : tile('Latency', seconds(r.latency_s), change((x) => x.latency_s)),
    tile('Step', seconds(r.step_time_s), `${number(r.global_batch)} samples on ${r.ipus} IPUs`),
    tile('MFU', percent(r.mfu), change((x) => x.mfu)),
    tile('Energy', r.energy_j ? joules(r.energy_j) : joules(r.energy_per_step_j), `${r.energy_j ? `to train; ${joules(r.energy_per_step_j)} ` : ''}a step${power}; modelled`),
    tile('Fits', fits, r.fits ? `${room >= 0 ? `${bytes(room)} free on the fullest tile` : tooMany(r)}, ${known}${likely(r.fits_probability_counted)}` : `${known}${tooMany(r)}; the rest is as if it fitted`, !r.fits));
}

function drawSentence({ now }) {
  const r = now.result;
  const [part, time] = Object.entries(r.breakdown).sort((a, b) => b[1] - a[1])[0];
  const on = `${runName(r.workload)} on ${r.ipus} IPU${r.ipus > 1 ? 's' : ''} of ${r.system}`;
  const rate = `${number(r.throughput_samples_per_s)} samples/s`;
  byId('sentence').classList.toggle('bad', !r.fits);
  byId('sentence').textContent = r.fits ? `${on} makes ${rate}; the largest part of a step is ${part.replace('_', ' ')}, ${percent(time / r.step_time_s, 0)}.`
    : `${on} does not fit: ${tooMany(r)}. If it fitted, it would make ${rate}.`;
}

function drawTime({ now }) {
  const { result: r, part_names: names } = now;
  const parts = Object.entries(r.breakdown).filter(([, s]) => s > 0).sort((a, b) => b[1] - a[1]);
  drawBars(byId('time'), { caption: 'Where the time of a step goes, by IPU', names, text: (cycles) => `${percent(cycles / now.step_cycles)} (${seconds(cycles / now.clock_hz).replace('–', '0')})`,
    rows: now.parts.map((values, i) => ({ label: `IPU ${i}`, values })),
    summary: `Mean of the IPUs: ${parts.slice(0, 6).map(([name, s]) => `${name.replace('_', ' ')} ${percent(s / r.step_time_s, 0)}`).join(', ')}.` });
}

function drawMemory({ now }) {
  const { tile_memory_bytes: limit, worst_ipu: worst, memory } = now;
  drawBars(byId('memory'), { caption: 'Memory of the fullest tile, by IPU and category', names: now.memory_names, limit, text: bytes,
    rows: memory.map(({ bytes: values }, i) => ({ label: `IPU ${i}`, values })),
    summary: `IPU ${worst} is the fullest: ${bytes(memory[worst].total_bytes)} of ${bytes(limit)} on its fullest tile.` });
}

function drawNumbers(parts) {
  if (controls.published !== parts.published) {
    controls.setRecipe(parts.published);
    controls.sets = { ...state.sets };
  }
  controls.show();
  for (const radio of document.querySelectorAll('#mode input')) radio.checked = radio.value === controls.value('recipe.mode');
  drawSentence(parts);
  drawTiles(parts);
}

function drawViews(parts) {
  drawTime(parts);
  drawMemory(parts);
  timeline.show(parts.now);
  drawTake(parts);
}

// The interval, what is published of this recipe and near it, and what the program warns of.
function drawTrust(answer, messages) {
  const v = answer.validity;
  const isPublished = Object.keys(state.sets).length === 0;
  const figures = isPublished ? catalogue.published.filter(({ recipe }) => recipe === state.run) : [];
  const figure = ({ metric, published: value, simulated, error, role }) => element('li', {}, metric === 'time_to_train_min'
    ? `${number(value)} min published, ${number(simulated)} predicted (${signedPercent(error)}, ${role})` : `${number(value)} samples/s published, ${number(simulated)} predicted (${signedPercent(error)}, ${role})`);
  const near = ({ configuration, error, distance }) => element('li', {}, element('a', { href: `#run=${configuration}` }, configuration),
    ` at distance ${number(distance)}, predicted ${signedPercent(error)} off when it was left out of the fit`);
  const warnings = messages.trim().split('\n').filter(Boolean);
  drawInterval(v);
  byId('trust').replaceChildren(...[
    element('p', {}, v.interval_low ? `90 % interval: ${number(v.interval_low)} to ${number(v.interval_high)} samples/s. ` : `${noInterval(v)}; `,
      `${percent(v.from_fitted_share, 0)} of the time rests on fitted values, ${percent(v.from_assumed_share, 0)} on assumed ones.`),
    v.guess ? element('p', { class: 'error' }, 'Nothing near is published: the interval is a guess, as wide as errors of such programs were when they were first simulated.') : null,
    ...(figures.length ? [element('h3', {}, 'Published of this run'), element('ul', {}, ...figures.map(figure))] : []),
    element('h3', {}, 'Published nearby'), element('ul', {}, ...v.nearest.map(near)),
    ...(warnings.length ? [element('h3', {}, 'The program warns'), element('ul', {}, ...warnings.map((line) => element('li', {}, line.replace(/^podbench: /, ''))))] : []),
  ].filter(Boolean));
}

// The recipe's text: only read when it is asked for, as the data is large.
let unpacked = null;
async function recipeSource(run) {
  if (openedText(run)) return openedText(run);
  unpacked ??= unpackFiles(pack.files);
  return new TextDecoder().decode((await unpacked).get(`workloads/recipes/${run}.ini`));
}

function drawTake({ now, wanted }) {
  const options = now.framework_options.map(({ option, place }) => `${place === 'code' ? '' : '# '}${option}`).join('\n');
  const wasOpen = byId('recipe')?.open;
  const recipe = element('pre', { tabindex: '0', role: 'region', 'aria-label': 'Recipe' });
  const text = async () => recipeText(await recipeSource(wanted.run), wanted);
  const shown = element('details', { id: 'recipe', open: wasOpen, ontoggle: async () => { recipe.textContent = await text(); } }, element('summary', {}, 'The recipe'), recipe);
  byId('take').replaceChildren(
    element('p', {}, 'The program gives the same digits:'), element('pre', { id: 'command', tabindex: '0', role: 'region', 'aria-label': 'Command' }, runCommand(wanted)),
    element('p', { class: 'buttons' }, copyButton('Copy the command', () => runCommand(wanted)), copyButton('Copy the recipe', text), copyButton('Copy a link', () => location.href)),
    shown,
    element('h3', {}, `As options of ${controls.value('recipe.framework') || 'the framework'}`),
    ...options ? [element('pre', { id: 'options', tabindex: '0', role: 'region', 'aria-label': 'Options of the framework' }, options), element('p', { class: 'buttons' }, copyButton('Copy the options', () => options))]
      : [element('p', { class: 'note' }, 'No option of this framework is known for these keys.')]);
}

// ---- choosing a run, opening a file

function choose(run, sets = {}) {
  controls.sets = { ...sets };
  update({ ...state, run, sets });
  chooser.show(runName(run));
}

async function open(files) {
  try {
    const [first] = await openFiles(client, [...files]);
    choose(first);
  } catch (error) {
    say(error.message, true);
  }
}

// A model of one's own gets another recipe for another mode; of any other run the mode is one setting.
async function setMode(mode) {
  const made = modelOf(state.run);
  if (!made) {
    controls.assign('recipe.mode', mode);
    update({ ...state, sets: { ...controls.sets } });
    return;
  }
  try {
    choose(await recipeFor(client, made.model, mode));
  } catch (error) {
    say(error.message, true);
  }
}

byId('mode').addEventListener('change', ({ target }) => setMode(target.value));
byId('reset').addEventListener('click', () => choose(state.run));
byId('open-file').addEventListener('click', () => byId('file').click());
byId('file').addEventListener('change', ({ target }) => { if (target.files.length) open(target.files); });
document.addEventListener('dragover', (event) => event.preventDefault());
document.addEventListener('drop', (event) => {
  event.preventDefault();
  if (event.dataTransfer.files.length) open(event.dataTransfer.files);
});
window.addEventListener('hashchange', () => {
  const next = readAddress(location.hash, FIRST);
  controls.sets = { ...next.sets };
  take(next);
  chooser.show(runName(next.run));
});
byId('controls').addEventListener('submit', (event) => event.preventDefault());

window.podbench = { ask: (request) => client.ask(request), shown: () => answered.now.result };      // for the browser's console, and for tests

new Ask(byId('ask'), pack, { say, answered: async (name, recipe) => choose(await keepRecipe(name, recipe)), fileNamed: (word) => modelNamed(word) ?? word });
chooser.show(runName(state.run));
client.ready.catch((error) => say(`The simulator cannot start in this browser: ${error.message}`, true));
redraw(state);
