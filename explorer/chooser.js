// The list of published runs, by model: what is typed above it, in any order of words, filters it. Names are whole.
import { byId, element } from './view.js';

export class Chooser {
  // choose(run): called with the id of the run that was chosen.
  constructor(runs, choose) {
    this.rows = runs.map(({ id, workload }) => {
      const button = element('button', { type: 'button', onclick: () => { byId('runs').open = false; choose(id); } }, id);
      return { workload, button, row: element('li', {}, button), words: `${id} ${workload}`.toLowerCase() };
    });
    this.rows.sort((a, b) => (a.workload < b.workload ? -1 : a.workload > b.workload ? 1 : 0));
    this.none = element('p', { class: 'note', hidden: true }, 'No published run has these words.');
    byId('run-list').replaceChildren(...this.rows.map(({ row }) => row));
    byId('run-list').after(this.none);
    byId('run-filter').addEventListener('input', ({ target }) => this.filter(target.value));
    byId('run-filter').addEventListener('keydown', (event) => { if (event.key === 'Enter') this.rows.find(({ row }) => !row.hidden)?.button.click(); });
    byId('runs').addEventListener('toggle', () => { if (byId('runs').open) byId('run-filter').focus(); });
  }

  filter(text) {
    const wanted = text.toLowerCase().split(/\s+/);
    for (const { row, words } of this.rows) row.hidden = !wanted.every((word) => words.includes(word));
    this.none.hidden = this.rows.some(({ row }) => !row.hidden);
  }

  show(name) { byId('run').textContent = name; }
}
