// node explorer/test-engine.mjs BUILD: random recipes with random settings, simulated in the page and by the native program. Prints TAP.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { finish, openBrowser, result } from './browser.mjs';

const B = process.argv[2];
const CONFIGURATIONS = 200;
const SEED = Number(process.argv[3] ?? 1);
const CLOSE = 1e-9;                     // the logarithm and the exponential of two C libraries differ in the last digit
const opened = await openBrowser(B);
const { page } = opened;
await page.goto(`${pathToFileURL(resolve(B, 'explorer.html')).href}`);
await page.waitForFunction(() => document.documentElement.dataset.settled === 'yes');
const { runs, keys, systems } = await page.$eval('#catalogue', (script) => JSON.parse(script.textContent));

let drawn = SEED;
function random(n) {                    // Park and Miller
  drawn = (drawn * 48271) % 2147483647;
  return drawn % n;
}
const pick = (list) => list[random(list.length)];
const numbers = { 'parallel.micro_batch': [1, 2, 3, 5, 8, 16], 'parallel.gradient_accumulation': [1, 4, 24, 100], 'parallel.replicas': [1, 2, 3, 4, 8], 'parallel.ipus_per_replica': [1, 2, 4, 8],
  'parallel.available_memory': [0.1, 0.25, 0.6], 'parallel.io_tiles': [0, 32, 64], 'machine.clock_hz': [1e9, 1.5e9, 2.2e9], 'machine.link_bytes_per_s': [1e10, 2.4e10], 'machine.tile_memory_bytes': [500000, 900000],
  'recipe.system': systems.map(({ name }) => name) };
const choosable = [...Object.entries(numbers), ...keys.filter(({ name, choices }) => choices.length && !(name in numbers)).map(({ name, choices }) => [name, choices])];
function configuration() {
  const sets = new Map(Array.from({ length: random(4) }, () => { const [key, values] = pick(choosable); return [key, pick(values)]; }));
  return { id: pick(runs).id, set: [...sets].map(([key, value]) => `${key}=${value}`) };
}

const native = (words) => new Promise((done) => { execFile(`${B}/podbench`, words, { maxBuffer: 1 << 28 }, (error, stdout, stderr) => done({ output: stdout, messages: stderr })); });

// Where two answers differ by more than the last digits: the path of the first such member, '' if nowhere.
function difference(a, b, path = '') {
  if (typeof a === 'number' && typeof b === 'number') return Math.abs(a - b) <= CLOSE * Math.max(Math.abs(a), Math.abs(b)) ? '' : `${path}: ${a} and ${b}`;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return a === b ? '' : `${path}: ${a} and ${b}`;
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  for (const name of names) {
    const found = name in a && name in b ? difference(a[name], b[name], `${path}/${name}`) : `${path}/${name}: in one alone`;
    if (found) return found;
  }
  return '';
}

let bytes = 0;
let close = 0;
let refused = 0;
for (let i = 0; i < CONFIGURATIONS; i++) {
  const { id, set } = configuration();
  const [ours, theirs] = await Promise.all([page.evaluate((request) => window.podbench.ask(request), { command: 'run', arguments: [id], set, format: 'json' }),
    native(['run', id, '--format', 'json', ...set.flatMap((text) => ['--set', text])])]);
  const isSame = ours.output === theirs.output && ours.messages === theirs.messages;
  refused += !theirs.output;
  bytes += isSame;
  const where = isSame ? '' : ours.messages !== theirs.messages ? `${ours.messages} and ${theirs.messages}` : !ours.output || !theirs.output ? 'one is refused' : difference(JSON.parse(ours.output), JSON.parse(theirs.output));
  close += !isSame && !where;
  if (where) console.log(`# ${id} ${set.join(' ')}: ${where.replaceAll('\n', ' ')}`);
}
result(bytes + close === CONFIGURATIONS, `${CONFIGURATIONS} random configurations: ${bytes} answers have the bytes of the native program's (${refused} of them refusals), ${close} differ in last digits only`);

// ---- other commands, whose answers are longer

const options = ({ set = [], limit = [], size }) => [...set.flatMap((text) => ['--set', text]), ...limit.flatMap((text) => ['--limit', text]), ...(size ? ['--size', String(size)] : [])];
const bert = 'mlperf-v2.0-closed-bow-pod16-bert-large';
const requests = [
  { command: 'fit', arguments: [bert], size: 5 }, { command: 'explain', arguments: [bert], set: ['parallel.micro_batch=2'] }, { command: 'diff', arguments: [bert, 'mlperf-v2.0-closed-bow-pod64-bert-large'] },
  { command: 'search', arguments: ['mlperf-v2.0-closed-bow-pod16-resnet50'], limit: ['fits=0.9..', 'ipus=16'] },
];
for (const request of requests) {
  const [ours, theirs] = await Promise.all([page.evaluate((asked) => window.podbench.ask(asked), { ...request, format: 'json' }),
    native([request.command, ...request.arguments, '--format', 'json', ...options(request)])]);
  const where = ours.output === theirs.output ? '' : difference(JSON.parse(ours.output), JSON.parse(theirs.output));
  result(!where && theirs.output.length > 100, `${request.command} answers as the native program`, where);
}
await finish(opened);
