// Rows of stacked bars: one row for each IPU, one piece for each category, a legend, and the same numbers as a table.
import { colourOf, element, hideTip, showTip, table } from './view.js';

// rows: [{ label, values }]; limit: draws a line there and says what is beyond it; text: a value as the tooltip and the table show it.
export function drawBars(place, { caption, names, rows, limit, text, summary }) {
  const most = Math.max(limit ?? 0, ...rows.map((row) => row.values.reduce((sum, x) => sum + x, 0))) || 1;
  const shown = names.map((name, i) => ({ name, i, sum: rows.reduce((sum, row) => sum + row.values[i], 0) })).filter(({ sum }) => sum > 0);
  const bar = (row) => element('div', { class: 'bar', style: `--limit:${limit ? (100 * limit) / most : 101}%` }, ...shown.map(({ name, i }) => {
    const says = `${row.label}, ${name}: ${text(row.values[i])}`;
    return element('span', { style: `width:${(100 * row.values[i]) / most}%;background:${colourOf(name, i)}`,
      onmousemove: (event) => showTip(event, says), onmouseleave: hideTip });
  }));
  place.replaceChildren(
    element('p', { class: 'note' }, summary),
    element('ul', { class: 'legend', 'aria-hidden': 'true' }, ...shown.map(({ name, i }) => element('li', {}, element('i', { style: `background:${colourOf(name, i)}` }), name))),
    element('div', { class: `bars${limit ? ' limited' : ''}`, role: 'img', 'aria-label': `${caption}. ${summary}` },
      ...rows.map((row) => element('div', { class: 'row' }, element('span', { class: 'label' }, row.label), bar(row)))),
    element('details', {}, element('summary', {}, `${caption} as a table`),
      table(caption, ['', ...shown.map(({ name }) => name)], rows.map((row) => [row.label, ...shown.map(({ i }) => text(row.values[i]))]))),
  );
}
