// node explorer/test-report.mjs BUILD REPORT: the page that `podbench report` wrote, in headless Chromium. Prints TAP.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { finish, lookAt, nextFrame, openBrowser, result } from './browser.mjs';

const TRIES = 400;                      // places in a figure, spread evenly
const opened = await openBrowser(process.argv[2]);
const { page } = opened;
await page.setViewport({ width: 1400, height: 1000 });
const address = pathToFileURL(resolve(process.argv[3])).href;
await page.goto(address);
// What the page says once it has handled the mouse's last move.
const says = async () => { await nextFrame(page); return page.$eval('.tip', (tip) => (tip.hidden ? '' : tip.textContent)); };

// Moves the mouse over the figure until something is said that `wanted` takes. Returns it, or ''.
async function ask(svg, wanted = () => true) {
  await svg.evaluate((drawing) => drawing.scrollIntoView({ block: 'center' }));
  const { x, y, width, height } = await svg.boundingBox();
  for (let i = 0; i < TRIES; i++) {
    await page.mouse.move(x + width * (0.1 + 0.8 * (((i * 37) % 100) / 100)), Math.min(980, Math.max(10, y + height * (0.1 + 0.8 * (((i * 61) % 97) / 97)))));
    const text = await says();
    if (text && wanted(text)) return text;
  }
  return '';
}

for (const figure of await page.$$('figure')) {
  const name = await figure.evaluate((at) => at.id);
  const text = await ask(await figure.$('svg'));
  result(/\d/.test(text), `${name} answers the mouse: ${text.replaceAll('\n', '; ').slice(0, 90)}`);
}

const text = await ask(await page.$('#figure-kinds svg'), (said) => said.includes('pod'));
await page.mouse.down();
await page.mouse.up();
await page.waitForFunction(() => document.getElementById(location.hash.slice(1))?.open, { timeout: 10000 }).catch(() => {});      // the page hears of a new address later
const card = await page.evaluate(() => ({ id: location.hash.slice(1), open: document.getElementById(location.hash.slice(1))?.open }));
result(card.open && card.id === `run-${text.split('\n')[0]}`, `a click opens the card of the run: ${card.id}`, text);

const hidden = () => page.$$eval('#figure-breakdown .off', (groups) => groups.length);
const word = await page.$('#figure-breakdown g[id*=gnuplot_plot_] > g:first-of-type text');
await word.evaluate((at) => at.dispatchEvent(new Event('click')));
const once = await hidden();
await word.evaluate((at) => at.dispatchEvent(new Event('click')));
result(once === 1 && (await hidden()) === 0, 'a word of the legend hides its pieces and shows them again');

// ---- sizes

const MOST_FIGURE_PX = 900;
const MOST_SCREENS = 10;
const sizes = () => page.$$eval('figure svg', (drawings) => drawings.map((drawing) => drawing.getBoundingClientRect()).filter(({ width }) => width > 0).map(({ left, right, height, top }) => ({ left, right, height, bottom: top + window.scrollY + height })));
await page.goto('about:blank');
await page.setViewport({ width: 1280, height: 900 });
await page.goto(address);
const wide = await sizes();
const screens = await page.evaluate(() => document.documentElement.scrollHeight / window.innerHeight);
result(screens <= MOST_SCREENS, `${screens.toFixed(1)} screens of 1280 x 900, at most ${MOST_SCREENS}`);
result(wide.slice(0, 3).every(({ bottom }) => bottom <= 900), 'scaling, errors by kind and time to train are on the first screen', JSON.stringify(wide.slice(0, 3)));
result(wide.some(({ left }) => left > 600) && wide.every(({ height }) => height <= MOST_FIGURE_PX), 'on a desk figures stand in two columns, none too high');

const LEAST_LETTER_PX = 13;             // of a figure, on a phone
await page.setViewport({ width: 390, height: 844 });
await nextFrame(page);
result((await sizes()).every(({ height }) => height <= MOST_FIGURE_PX), 'nor on a phone', JSON.stringify(await sizes()));
const letters = await page.$$eval('figure .narrow svg', (drawings) => drawings.map((drawing) => {
  const frame = drawing.getBoundingClientRect();
  const texts = [...drawing.querySelectorAll('text')].filter((text) => text.textContent.trim());
  const isCut = ({ left, right, top, bottom }) => left < frame.left - 1 || right > frame.right + 1 || top < frame.top - 1 || bottom > frame.bottom + 1;
  return { name: drawing.closest('figure').id, size: Math.min(...texts.map((text) => parseFloat(getComputedStyle(text.querySelector('tspan') ?? text).fontSize) * drawing.getScreenCTM().a)),
    cut: texts.filter((text) => isCut(text.getBoundingClientRect())).map((text) => text.textContent.trim()) };
}));
const unread = letters.filter(({ size, cut }) => size < LEAST_LETTER_PX || cut.length);
result(unread.length === 0, `on a phone letters of ${letters.length} figures are ${Math.min(...letters.map(({ size }) => size)).toFixed(1)} px at least, and none is cut`, JSON.stringify(unread));

// Rows and cards are alike; a few of each are looked at.
await page.evaluate(() => document.querySelectorAll('tbody tr:nth-child(n + 6), details[id^=run-]:nth-of-type(n + 6)').forEach((more) => more.remove()));
await lookAt(opened, 'report');
await finish(opened);
