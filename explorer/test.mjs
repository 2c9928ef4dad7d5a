// node explorer/test.mjs BUILD: the page in headless Chromium. Prints TAP, and the times that it measured; screenshots go to BUILD/explorer/shots.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { finish, lookAt, openBrowser, result } from './browser.mjs';

const B = process.argv[2];
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

const native = (words) => spawnSync(`${B}/podbench`, words, { encoding: 'utf8', maxBuffer: 1 << 28 });

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
result(shownOptions.length === named.length && named.every(({ option, place }, i) => shownOptions[i] === (place === 'code' ? option : `# ${option}`)), `${named.length} options of the framework, as the native program names them`, shownOptions.join('\n'));
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

// ---- what is unlike everything published is a guess, wherever its speed stands

await page.goto('about:blank');
await page.goto(`${address}#run=prediction-ipu-pod16-rnnt&a.run=mlperf-v2.0-closed-bow-pod16-bert-large`);
await settled();
result(await comes(() => document.getElementById('tiles').textContent.includes('a guess')), 'a guess under the throughput', await page.$eval('#tiles', (place) => place.textContent));
result(await comes(() => document.getElementById('compare').textContent.includes('This one is a guess')), 'a guess side by side', await page.$eval('#compare', (place) => place.textContent));
await page.click('#sweep-go');
result(await comes(() => document.getElementById('sweep').textContent.includes('are guesses')), 'a guess in a sweep', await page.$eval('#sweep', (place) => place.textContent));

// ---- files of one's own, alone and together; train or infer

const recipe = `${B}/explorer/dropped.ini`;
writeFileSync(recipe, readFileSync('workloads/recipes/mlperf-v2.0-closed-bow-pod16-resnet50.ini', 'utf8'));
const model = resolve('tests', 'root', 'two-layers.onnx');
const own = `${B}/explorer/two-own.ini`;
writeFileSync(own, '[recipe]\nid = two-own\nworkload = models/two-layers.onnx\nsystem = ipu-pod4\nmode = infer\nsource = a test\n\n[parallel]\nreplicas = 1\nipus_per_replica = 1\nmicro_batch = 24\ngradient_accumulation = 1\n\n[precision]\ncompute = fp16\n');
const opens = async (...paths) => (await page.$('#file')).uploadFile(...paths);
const says = (start) => comes((text) => document.getElementById('sentence').textContent.startsWith(text), start);
await opens(recipe);
result(await says('resnet50'), 'a recipe that is opened is simulated');
await settled();
await opens(own);
result(await comes(() => document.getElementById('status').textContent === 'two-own.ini describes the model two-layers.onnx: open both files together'), 'a recipe without its model says what is missing', await page.$eval('#status', (p) => p.textContent));
await opens(own, model);
result((await says('two-layers')) && (await comes(() => document.getElementById('knob-parallel.micro_batch').value === '24')), 'a recipe and its model are opened together', await page.$eval('#status', (p) => p.textContent));
await settled();
await opens(model);
result(await comes(() => document.getElementById('run').textContent === 'two-layers.ini' && document.getElementById('sentence').textContent.startsWith('two-layers')), 'an ONNX file alone gets a recipe');
await settled();
await page.click('#mode input[value=train]');
result(await comes(() => document.querySelector('#mode input:checked')?.value === 'train' && document.documentElement.dataset.settled === 'yes' && window.podbench.shown().breakdown.optimizer > 0), 'the switch trains it', await page.$eval('#status', (p) => p.textContent));

// ---- the list of runs

await page.$eval('#runs', (details) => { details.open = true; });
await page.type('#run-filter', 'pod64 v2.0 bert');
const listed = await page.$$eval('#run-list li', (rows) => rows.filter((row) => !row.hidden).map((row) => row.textContent));
result(listed.length > 0 && listed.length < 10 && listed.every((id) => ['pod64', 'v2.0', 'bert'].every((word) => id.includes(word))), 'what is typed filters the runs', listed.join('\n'));
await page.keyboard.press('Enter');
result(await comes((id) => document.getElementById('run').textContent === id && document.getElementById('sentence').textContent.includes('bow-pod64'), listed[0]), 'Enter takes the first of them');
await settled();

// ---- what does not fit; what fits; what is better

await page.goto('about:blank');
await page.goto(`${address}#run=mlperf-v2.0-closed-bow-pod16-bert-large&parallel.recompute=none`);
await settled();
const firstOf = (selector) => page.$eval(selector, (place) => place.textContent);
result(/^bert-large on 16 IPUs of bow-pod16 does not fit: [\d.]+ MB too many on the fullest tile\. If it fitted, /.test(await firstOf('#sentence')), 'the first sentence says that it does not fit', await firstOf('#sentence'));
result(await page.$eval('#tiles > div', (tile) => tile.className === 'bad' && tile.textContent.includes('it does not fit')), 'so does the tile of the rate');
await page.click('#fit-go');
await page.waitForSelector('#fit table:nth-of-type(1)');
const asked = native(['fit', 'mlperf-v2.0-closed-bow-pod16-bert-large', '--set', 'parallel.recompute=none', '--format', 'json']);
const changes = JSON.parse(asked.stdout).changes.filter(({ fits }) => fits);
result(changes.length > 0 && changes.every(({ what }) => asked && what) && (await firstOf('#fit')).includes(changes[0].what), 'what makes it fit is named, as the native program names it', await firstOf('#fit'));
await page.evaluate((what) => [...document.querySelectorAll('#fit tr')].find((row) => row.textContent.includes(what)).querySelector('button').click(), changes[0].what);
result(await comes(() => !document.getElementById('sentence').classList.contains('bad') && document.documentElement.dataset.settled === 'yes'), 'a change that is taken makes it fit');
await page.evaluate(() => { document.getElementById('reset').click(); });
await page.evaluate(() => { const field = document.querySelector('[id="knob-parallel.recompute"]'); field.value = 'none'; field.dispatchEvent(new Event('change')); });
await settled();
await page.select('#find-seconds', '20');
await page.click('#find-go');
const rate = await page.evaluate(() => { document.getElementById('reset').click(); return window.podbench.ask({ command: 'run', arguments: ['mlperf-v2.0-closed-bow-pod16-bert-large'], format: 'json' }).then(({ output }) => JSON.parse(output)[0].throughput_samples_per_s); });
result(await comes((own) => Number(/best so far: (\d+)/.exec(document.querySelector('#find .work').textContent)?.[1]) > own + 1, rate), 'a search tells how far it is', await firstOf('#find'));
await drawn();
await page.evaluate(() => { document.querySelector('[id="knob-parallel.micro_batch"]').value = '2'; document.querySelector('[id="knob-parallel.micro_batch"]').dispatchEvent(new Event('change')); });
result(await comes(() => document.documentElement.dataset.drawn === location.hash && !document.querySelector('#find .work').hidden), 'the page answers while it searches');
await page.click('#find .stop');
result(await comes(() => document.querySelector('#find .work').hidden && document.getElementById('find').textContent.includes('Stopped while searching')), 'a search can be stopped');
await page.evaluate(() => [...document.querySelectorAll('#find button')].find((button) => button.textContent === 'Move the page there').click());
result(await comes(() => /makes [2-9],\d\d\d samples/.test(document.getElementById('sentence').textContent) && document.documentElement.dataset.settled === 'yes'), 'its best so far is kept', await firstOf('#sentence'));
await page.type('#ask-words', 'bert on pod4 infer');
await page.keyboard.press('Enter');
result(await comes(() => document.getElementById('sentence').textContent.startsWith('bert-large on 4 IPUs of bow-pod4 makes')), 'a question in one line is answered', await firstOf('#status'));
await page.$eval('#ask-words', (field) => { field.value = 'bert on h100'; });
await page.click('#ask button');
result(await comes(() => document.getElementById('status').textContent.includes("'h100' is neither a machine")), 'what has no answer is said');

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
