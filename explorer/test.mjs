// node explorer/test.mjs BUILD: the page in headless Chromium. Prints TAP, and the times that it measured; screenshots go to BUILD/explorer/shots.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { finish, lookAt, openBrowser, result } from './browser.mjs';

const B = process.argv[2];
const CONFIGURATIONS = 50;
const median = (xs) => [...xs].sort((a, b) => a - b)[Math.floor(xs.length / 2)];
const opened = await openBrowser(B);
const { page, shots } = opened;

const address = pathToFileURL(resolve(B, 'explorer.html')).href;
const settled = () => page.waitForFunction(() => document.documentElement.dataset.settled === 'yes');
const drawn = () => page.waitForFunction(() => document.documentElement.dataset.drawn === location.hash);
// Waits for a condition that the page computes, and says whether it came.
const comes = (condition, ...values) => page.waitForFunction(condition, { timeout: 20000 }, ...values).then(() => true, () => false);
const attribute = (name) => page.evaluate((key) => document.documentElement.dataset[key], name);

// ---- it loads

await page.setViewport({ width: 1400, height: 1000 });
const firsts = [];
for (let load = 0; load < 5; load++) {
  await page.goto('about:blank');
  await page.goto(address);
  await page.waitForSelector('#tiles dd');
  firsts.push(await page.evaluate(() => performance.now()));
}
console.log(`# first answer: shortest ${Math.min(...firsts).toFixed(0)} ms, median ${median(firsts).toFixed(0)} ms of ${firsts.length} loads`);
await settled();
result((await page.$$('#tiles > div')).length === 6, 'the page answers from a file, without a server');
result((await page.$eval('#trust', (place) => place.textContent)).includes('90 % interval'), 'the interval follows');

// ---- the same digits as the native program

const catalogue = await page.$eval('#catalogue', (script) => JSON.parse(script.textContent));
const settings = [[], ['parallel.micro_batch=2'], ['parallel.gradient_accumulation=24'], ['machine.clock_hz=1.5e9'], ['parallel.available_memory=0.25'], ['machine.link_bytes_per_s=24e9', 'precision.partials=fp32']];
const native = (words) => {
  const { stdout, stderr } = spawnSync(`${B}/podbench`, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
  return { stdout, stderr };
};
let equal = 0;
let refused = 0;
for (let i = 0; i < CONFIGURATIONS; i++) {
  const { id } = catalogue.runs[Math.floor((i * catalogue.runs.length) / CONFIGURATIONS)];
  const set = settings[i % settings.length];
  const ours = await page.evaluate((request) => window.podbench.ask(request), { command: 'run', arguments: [id], set, format: 'json' });
  const theirs = native(['run', id, '--format', 'json', ...set.flatMap((text) => ['--set', text])]);
  const same = ours.output === theirs.stdout && ours.messages === theirs.stderr;
  equal += same;
  refused += !theirs.stdout;
  if (!same) {
    writeFileSync(`${B}/explorer/ours.json`, ours.output + ours.messages);
    writeFileSync(`${B}/explorer/theirs.json`, theirs.stdout + theirs.stderr);
    console.log(`# ${id} ${set.join(' ')}: differs; see ours.json and theirs.json in ${B}/explorer`);
  }
}
result(equal === CONFIGURATIONS, `${equal} of ${CONFIGURATIONS} configurations: the same bytes as the native program (${refused} are refused by both)`);

// ---- each control moves the answer, or says why it cannot

// The recipe that the page offers, and the options that it names for values of sheets, as the native program answers them.
async function nativeOfOffer() {
  await page.evaluate(() => { document.getElementById('recipe').open = true; });
  await page.waitForFunction(() => document.querySelector('#recipe pre').textContent !== '');
  const text = await page.$eval('#recipe pre', (pre) => pre.textContent);
  const path = `${B}/explorer/offered.ini`;
  writeFileSync(path, text);
  const set = (text.match(/^# To be run with (.*)/)?.[1] ?? '').split(' ').filter(Boolean);
  return JSON.parse(native(['run', path, ...set, '--format', 'json']).stdout)[0];
}
const digits = ({ throughput_samples_per_s: rate, memory_peak_bytes_per_tile: memory, time_to_train_s: time, breakdown }) => JSON.stringify([rate, memory, time, breakdown]);

const times = [];
let offers = 0;
let offersEqual = 0;
const knobs = await page.$$eval('#knobs .knob', (rows) => rows.map((row) => row.querySelector('[id^=knob]').id.slice('knob-'.length)));
for (const key of knobs) {
  await page.evaluate(() => { document.getElementById('reset').click(); });
  await drawn();
  const before = await page.$eval('#sentence', (p) => p.textContent);
  const moved = await page.evaluate((id) => {
    const field = document.getElementById(`knob-${id}`);
    const slider = field.parentNode.querySelector('input[type=range]');
    const target = slider ?? field;
    if (slider) slider.value = Number(slider.value) + (slider.value === slider.max ? -1 : 1);
    else if (field.options) field.selectedIndex = (field.selectedIndex + 1) % field.options.length;
    else field.value = '';
    target.dispatchEvent(new Event(slider ? 'input' : 'change', { bubbles: true }));
    return location.hash;
  }, key);
  await drawn();
  const error = await page.$eval('#status', (p) => p.textContent);
  if (!error) {
    times.push(Number(await attribute('redrawMs')));
    const shown = await page.evaluate(() => window.podbench.shown());
    const same = digits(shown) === digits(await nativeOfOffer());
    offers += 1;
    offersEqual += same;
    if (!same) console.log(`# ${key}: the offered recipe gives other digits`);
  }
  const named = key === 'ipus' ? 'parallel.replicas' : key;
  result(moved.includes(encodeURIComponent(named)) && (error.startsWith('podbench: ') || !error), `${key}: moves${error ? `, refused: ${error}` : ''}`, `${moved}\n${before}\n${error}`);
}

result(offersEqual === offers, `${offersEqual} of ${offers} offered recipes give the page's digits in the native program`);

// ---- the redraw, where the slider has been before and where it has not

await page.evaluate(() => { document.getElementById('reset').click(); });
await drawn();
const slides = [];
for (let step = 0; step < 20; step++) {
  await page.evaluate((i) => {
    const slider = document.getElementById('knob-machine.link_bytes_per_s').parentNode.querySelector('input[type=range]');
    slider.value = i % 10;
    slider.dispatchEvent(new Event('input', { bubbles: true }));
  }, step);
  await drawn();
  slides.push(Number(await attribute('redrawMs')));
}
console.log(`# redraw of the page: median ${median(times).toFixed(0)} ms over ${times.length} controls; a slider of the link rate: first time ${median(slides.slice(0, 10)).toFixed(0)} ms, again ${median(slides.slice(10)).toFixed(0)} ms`);

// ---- address, comparison, sweep, recipe

await page.goto('about:blank');
await page.goto(`${address}#run=mlperf-v2.0-closed-bow-pod16-bert-large&parallel.micro_batch=2&a.run=mlperf-v2.0-closed-bow-pod16-bert-large`);
await settled();
result((await page.$eval('[id="knob-parallel.micro_batch"]', (field) => field.value)) === '2', 'a link shows its configuration');
result((await page.$eval('#compare', (place) => place.textContent)).includes('parallel.micro_batch 3 -> 2'), 'side by side, the reason of the difference is named');
result((await page.$eval('#command', (pre) => pre.textContent)) === 'podbench run mlperf-v2.0-closed-bow-pod16-bert-large --set parallel.micro_batch=2', 'the command line is there to be copied');
const named = JSON.parse(native(['run', 'mlperf-v2.0-closed-bow-pod16-bert-large', '--set', 'parallel.micro_batch=2', '--format', 'json']).stdout)[0].framework_options;
const shownOptions = await page.$eval('#options', (pre) => pre.textContent.split('\n'));
result(shownOptions.length === named.length && named.every(({ option, checked }, i) => shownOptions[i].endsWith(option) && shownOptions[i].startsWith('# from memory') === !checked), `${named.length} options of the framework, as the native program names them`, shownOptions.join('\n'));
await page.click('#sweep-go');
await page.waitForSelector('#sweep canvas');
await page.select('#sweep-y', 'parallel.available_memory');
await page.$eval('#sweep-ys', (field) => { field.value = '0.2,0.3,0.4'; });
await page.$eval('#sweep-xs', (field) => { field.value = '1,2,3,4'; });
await page.click('#sweep-go');
await page.waitForSelector('#sweep table.map');
result(await comes(() => document.querySelectorAll('#sweep table.map td').length === 12), 'two keys are a map');
await page.evaluate(() => window.scrollTo(0, 0));
await page.screenshot({ path: `${shots}/compared.png`, fullPage: true });
await page.evaluate(() => [...document.querySelectorAll('#sweep table.map button')].find((button) => button.ariaLabel.includes('micro_batch 1, ')).click());
result(await comes(() => location.hash.includes('parallel.micro_batch=1')), 'a cell of the map moves the page');
await settled();

const recipe = `${B}/explorer/dropped.ini`;
writeFileSync(recipe, readFileSync('workloads/recipes/mlperf-v2.0-closed-bow-pod16-resnet50.ini', 'utf8'));
await (await page.$('#file')).uploadFile(recipe);
await page.waitForFunction(() => document.getElementById('sentence').textContent.startsWith('resnet50'));
result(true, 'a recipe that is opened is simulated');
await settled();
await (await page.$('#file')).uploadFile(resolve('tests', 'root', 'two-layers.onnx'));
await page.waitForFunction(() => document.getElementById('sentence').textContent.startsWith('two-layers'));
result(true, 'an ONNX file that is opened takes the place of the model');
await settled();

// ---- keyboard, accessibility, screenshots

await page.goto('about:blank');
await page.goto(address);
await settled();
const drawing = () => page.$eval('#timeline canvas', (canvas) => canvas.toDataURL());
const whole = await drawing();
await page.focus('#timeline canvas');
const draws = (before, isSame) => comes((last, same) => (document.querySelector('#timeline canvas').toDataURL() === last) === same, before, isSame);
await page.keyboard.press('+');
const hasZoomed = await draws(whole, false);
const zoomed = await drawing();
await page.keyboard.press('ArrowRight');
const hasMoved = await draws(zoomed, false);
await page.keyboard.press('Home');
result(hasZoomed && hasMoved && (await draws(whole, true)), 'the keyboard zooms the timeline, moves it and shows the whole step again');
const { x, y } = await (await page.$('#timeline canvas')).boundingBox();
await page.mouse.move(x + 300, y + 40);
result(await comes(() => { const tip = document.querySelector('.tip'); return !tip.hidden && /^IPU 1: .*cycles/.test(tip.textContent); }), 'the timeline says what is under the mouse');
await page.focus('[id="knob-parallel.micro_batch"]');
await page.keyboard.down('Shift');
await page.keyboard.press('Tab');
await page.keyboard.up('Shift');
await page.keyboard.press('ArrowLeft');
result(await comes(() => location.hash.includes('parallel.micro_batch=2')), 'the keyboard moves a slider');
await page.evaluate(() => { document.getElementById('reset').click(); });
await settled();
await lookAt(opened, 'explorer');
await finish(opened);
