// node explorer/test-hostile.mjs BUILD: addresses, recipes and models of a hostile author. None becomes a part of the page, or runs. Prints TAP.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { finish, openBrowser, result } from './browser.mjs';

const B = process.argv[2];
const opened = await openBrowser(B);
const { page, complaints } = opened;
const address = pathToFileURL(resolve(B, 'explorer.html')).href;
const EVIL = '"\'><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>{{WASM}}`${1}';
const known = 'mlperf-v2.0-closed-bow-pod16-bert-large';

const sent = [];
const isOwn = (url) => /^(file|data|blob):/.test(url);
page.on('response', (response) => { if (!isOwn(response.url())) sent.push(response.url()); });
page.on('requestfailed', (request) => { if (!isOwn(request.url()) && !/csp/i.test(request.failure()?.errorText ?? 'csp')) sent.push(`${request.url()}: ${request.failure().errorText}`); });
const settled = () => page.waitForFunction(() => document.documentElement.dataset.settled === 'yes');
const harmless = async (name) => {
  const found = await page.evaluate(() => ({ hacked: window.hacked, polluted: {}.polluted, images: document.images.length, scripts: document.scripts.length, handlers: document.querySelectorAll('[onerror], [onload], [onclick]').length }));
  result(!found.hacked && !found.polluted && found.images === 0 && found.scripts === 6 && found.handlers === 0, `${name}: nothing of it is markup`, JSON.stringify(found));
};

// ---- the address

const enc = encodeURIComponent;
const addresses = [
  ['a run', `run=${enc(EVIL)}`], ['a run with a javascript: name', `run=${enc('javascript:window.hacked=1//.')}`], ['a path out of the data', `run=${enc('../../../etc/passwd')}`],
  ['a key', `run=${known}&parallel.${enc(EVIL)}=1`], ['a value', `run=${known}&parallel.micro_batch=${enc(EVIL)}`], ['a kept run', `run=${known}&a.run=${enc(EVIL)}&a.parallel.micro_batch=${enc(EVIL)}`],
  ['keys of objects', `run=${known}&__proto__.polluted=1&constructor.prototype.polluted=1&a.run=${known}&a.__proto__=1`], ['line ends', `run=${known}&parallel.micro_batch=${enc('2\n[recipe]\nsystem = bow-pod4')}`],
  ['a NUL and broken UTF-8', `run=${known}%00%ff%fe&parallel.micro_batch=%00`], ['100,000 letters', `run=${known}&parallel.micro_batch=${'9'.repeat(100000)}`], ['1,000 settings', `run=${known}&${Array.from({ length: 1000 }, (_, i) => `x.k${i}=1`).join('&')}`],
  ['a text that is no address', enc(EVIL)], ['nothing', ''],
];
for (const [name, hash] of addresses) {
  await page.goto('about:blank');
  await page.goto(`${address}#${hash}`);
  await settled();
  await harmless(name);
}

// ---- names of files, recipes and models

// ONNX is protobuf: a message is its fields, each with its number, and texts with their length.
const varint = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...varint(n >> 7)]);
const text = (number, content) => { const body = typeof content === 'string' ? [...Buffer.from(content)] : content; return [...varint(number * 8 + 2), ...varint(body.length), ...body]; };
const count = (number, n) => [...varint(number * 8), ...varint(n)];
const valueInfo = (name, dims) => [...text(1, name), ...text(2, text(1, [...count(1, 1), ...text(2, dims.flatMap((dim) => text(1, typeof dim === 'number' ? count(1, dim) : text(2, dim))))]))];
function model(kind) {
  const node = [...text(1, `x${EVIL}`), ...text(1, `w${EVIL}`), ...text(2, `z${EVIL}`), ...text(3, `node${EVIL}`), ...text(4, kind)];
  const weights = [...count(1, 8), ...count(1, 4), ...count(2, 1), ...text(8, `w${EVIL}`), ...text(9, Array(128).fill(0))];
  const graph = [...text(1, node), ...text(2, `graph${EVIL}`), ...text(5, weights), ...text(11, valueInfo(`x${EVIL}`, ['batch', 8])), ...text(12, valueInfo(`z${EVIL}`, ['batch', 4]))];
  return Buffer.from([...count(1, 8), ...text(2, `producer${EVIL}`), ...text(7, graph), ...text(8, [...text(1, ''), ...count(2, 13)])]);
}
async function drop(...files) {
  await page.evaluate((list) => {
    const data = new DataTransfer();
    for (const { name, content } of list) data.items.add(new File([Uint8Array.from(content)], name));
    document.documentElement.dataset.settled = 'no';
    document.getElementById('status').textContent = '';
    document.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  }, files.map(([name, content]) => ({ name, content: [...Buffer.from(content)] })));
  await page.waitForFunction(() => document.documentElement.dataset.settled === 'yes' || document.getElementById('status').textContent !== '');
  return page.$eval('#status', (place) => place.textContent);
}
const recipe = (workload) => `[recipe]\nid = ${EVIL.replaceAll('\n', '')}\nworkload = ${workload}\nsystem = ${EVIL}\n`;
await page.goto(address);
await settled();
const drops = [
  ['a model with hostile names', [[`m${EVIL}.onnx`, model('MatMul')]]], ['a model with a hostile operator', [['m.onnx', model(`Mat${EVIL}`)]]], ['a recipe with hostile values', [[`r${EVIL}.ini`, recipe(EVIL)]]],
  ['a recipe that names a file elsewhere', [['r.ini', recipe('/podbench/system-model/specs/bow.onnx')], ['m.onnx', model('MatMul')]]], ['a name that climbs', [['../../podbench/system-model/specs/bow.csv.ini', 'x'], ['..', 'x']]],
  ['half a model', [['m.onnx', model('MatMul').subarray(0, 60)]]], ['an empty model', [['m.onnx', '']]], ['a picture', [['m.png', 'x']]], ['a recipe of bytes', [['r.ini', Buffer.from([0, 255, 254, 10, 91, 0])]]],
];
for (const [name, files] of drops) {
  const said = await drop(...files);
  await harmless(name);
  if (said) console.log(`# ${said.slice(0, 120).replaceAll('\n', ' ')}`);
}
await page.type('#ask-words', `${EVIL} on pod4`);
await page.keyboard.press('Enter');
await page.waitForFunction(() => document.getElementById('status').textContent.includes('is neither a built-in model'));
await harmless('a hostile question');

// ---- afterwards

await page.evaluate(() => { const trial = document.createElement('div'); trial.innerHTML = '<img src="https://example.invalid/x" onerror="window.hacked=1">'; document.body.append(trial); });
await new Promise((done) => { setTimeout(done, 200); });
result(!(await page.evaluate(() => window.hacked)) && sent.length === 0, 'even markup that was put into the page neither runs nor loads anything', sent.join('\n'));
complaints.splice(0, complaints.length, ...complaints.filter((line) => !/Content Security Policy|Refused to/.test(line)));
await finish(opened);
