// What the tests of pages share: headless Chromium, TAP, and the forms in which a page is looked at.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

let n = 0;
let failed = 0;
export function result(good, name, detail = '') {
  n += 1;
  failed += !good;
  console.log(`${good ? 'ok' : 'not ok'} ${n} - ${name}`);
  if (!good && detail) console.log(String(detail).split('\n').slice(0, 12).map((line) => `# ${line}`).join('\n'));
}

// B: the build folder. Returns the page, what its console complained of, and where screenshots go.
export async function openBrowser(B) {
  const required = createRequire(`${resolve(B, 'explorer/node_modules')}/`);
  const shots = `${B}/explorer/shots`;
  mkdirSync(shots, { recursive: true });
  const browser = await required('puppeteer-core').launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'], protocolTimeout: 600000 });
  const page = await browser.newPage();
  page.setDefaultTimeout(60000);
  const complaints = [];
  page.on('console', (message) => { if (['error', 'warn'].includes(message.type())) complaints.push(message.text()); });
  page.on('pageerror', (error) => complaints.push(String(error)));
  const axe = readFileSync(required.resolve('axe-core/axe.min.js'), 'utf8');
  return { browser, page, complaints, shots, axe };
}

const FORMS = [['desktop', 1280, 'light'], ['desktop-dark', 1280, 'dark'], ['phone', 390, 'light'], ['phone-dark', 390, 'dark']];

// The page has handled what was sent to it, and has drawn it, when a frame and the one after it have begun.
export const nextFrame = (page) => page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));

async function eachForm(page, see) {
  for (const [form, width, scheme] of FORMS) {
    await page.setViewport({ width, height: 844 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.waitForFunction((w, s) => window.innerWidth === w && matchMedia(`(prefers-color-scheme: ${s})`).matches, {}, width, scheme);
    await nextFrame(page);
    await see(form, width);
  }
}

// In each form a screenshot, the width, and axe-core. Drawings are emptied before axe-core reads the page: it takes minutes for their points.
export async function lookAt({ page, shots, axe }, name) {
  await page.evaluate(() => { document.activeElement.blur(); window.scrollTo(0, 0); });
  await page.mouse.move(0, 0);
  await eachForm(page, async (form, width) => {
    const height = Math.min(8000, await page.evaluate(() => document.documentElement.scrollHeight));
    await page.screenshot({ path: `${shots}/${name}-${form}.png`, captureBeyondViewport: true, clip: { x: 0, y: 0, width, height } });
    result(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `nothing is wider than the page: ${name}, ${form}`);
  });
  await page.evaluate(axe);
  await page.evaluate(() => document.querySelectorAll('figure svg').forEach((drawing) => drawing.replaceChildren()));
  await eachForm(page, async (form) => {
    const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }));
    result(violations.length === 0, `axe-core finds no fault: ${name}, ${form}`, violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((node) => node.target).slice(0, 5).join(', ')}`).join('\n'));
  });
}

export async function finish({ browser, complaints }) {
  result(complaints.length === 0, 'nothing in the console', complaints.join('\n'));
  await browser.close();
  console.log(`1..${n}`);
  process.exit(failed ? 1 : 0);
}
