// Small helpers of the views: elements, numbers as text, colours.

export const byId = (id) => document.getElementById(id);

// element('p', { class: 'note' }, 'text', child, ...)
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const significant = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 });
export const number = (x) => (x === null || x === undefined ? '–' : Math.abs(x) >= 10000 ? Math.round(x).toLocaleString('en') : significant.format(x));
export const percent = (x, digits = 1) => (x === null || x === undefined ? '–' : `${(100 * x).toFixed(digits)} %`);
/* A chance that rounds to 0 or 100 % is no certainty. */
export const likely = (chance) => (chance >= 0.995 ? 'over 99 % likely' : chance < 0.005 ? 'below 1 % likely' : `${percent(chance, 0)} likely`);
export const signedPercent = (x) => `${x >= 0 ? '+' : '−'}${Math.abs(100 * x).toFixed(1)} %`;

function scaled(x, units, step) {
  let i = 0;
  while (Math.abs(x) >= step && i < units.length - 1) {
    x /= step;
    i += 1;
  }
  return `${significant.format(x)} ${units[i]}`;
}
export const joules = (x) => (x ? scaled(x, ['J', 'kJ', 'MJ', 'GJ'], 1000) : '–');

// Three digits and powers of ten, as the program writes them: 22.0 kB.
export function bytes(x) {
  let i = 0;
  while (Number(Math.abs(x).toPrecision(3)) >= 1000 && i < 3) {
    x /= 1000;
    i += 1;
  }
  return `${i ? x.toPrecision(3) : x} ${['B', 'kB', 'MB', 'GB'][i]}`;
}

export function seconds(x) {
  if (!x) return '–';
  if (x >= 7200) return `${significant.format(x / 3600)} h`;
  if (x >= 120) return `${significant.format(x / 60)} min`;
  if (x >= 1) return `${significant.format(x)} s`;
  return x >= 1e-3 ? `${significant.format(x * 1e3)} ms` : `${significant.format(x * 1e6)} µs`;
}

// Colours that people with a colour-vision deficiency can tell apart where they stand side by side; tooltip, legend and table name every piece.
const palette = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442', '#999999', '#7a68c4', '#8c6d46', '#2f9e9e', '#c44e6a', '#b5c34a'];
const colours = {
  matmul: '#0072b2', conv: '#0072b2', norm: '#56b4e9', elementwise: '#009e73', softmax: '#7a68c4', embedding: '#2f9e9e', pooling: '#8c6d46', lstm: '#0072b2', loss: '#c44e6a',
  rearrange: '#b5c34a', exchange: '#e69f00', sync: '#f0e442', stage_copy: '#a87400', bubble: '#c9c9c9', accumulate: '#5b7fa6', all_reduce: '#cc79a7', optimizer: '#9d4edd',
  streaming: '#8c6d46', host: '#d55e00', forward: '#0072b2', backward: '#e69f00', copy: '#009e73', input: '#56b4e9', results: '#2f9e9e', wait: '#c9c9c9', turn: '#dedede', reduce: '#cc79a7', clip: '#8c6d46',
  norms: '#b5c34a', gather: '#c44e6a', call: '#d55e00', upload: '#5b7fa6',
};
export const colourOf = (name, i) => colours[name] ?? palette[i % palette.length];

export function table(caption, heads, rows) {
  const cells = (row) => row.map((cell, i) => element(i ? 'td' : 'th', i ? { class: 'n' } : { scope: 'row' }, cell));
  return element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption }, element('table', {},
    element('caption', {}, caption),
    element('thead', {}, element('tr', {}, ...heads.map((head) => element('th', { scope: 'col' }, head)))),
    element('tbody', {}, ...rows.map((row) => element('tr', {}, ...cells(row))))));
}

// One tooltip for the page, which follows the mouse.
const tip = element('div', { class: 'tip', hidden: true });
export function showTip(event, text) {
  if (!tip.parentNode) document.body.append(tip);
  tip.textContent = text;
  tip.hidden = false;
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, window.innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8)}px`;
}
export const hideTip = () => { tip.hidden = true; };

// text: a function that returns the text, or a promise of it.
export function copyButton(label, text) {
  return element('button', { type: 'button', onclick: async ({ target }) => {
    const copied = await text();
    await navigator.clipboard.writeText(copied).catch(() => fallbackCopy(copied));
    target.textContent = 'Copied';
    setTimeout(() => { target.textContent = label; }, 1200);
  } }, label);
}

// Pages from a disk may not use the clipboard of some browsers.
function fallbackCopy(text) {
  const area = element('textarea', { class: 'tip' });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
