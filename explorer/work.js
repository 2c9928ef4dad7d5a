// Work that takes seconds, in a worker of its own so that the page answers meanwhile: it tells how far it is, and can be stopped.
import { Client } from './client.js';
import { element } from './view.js';

let helper = null;                      // one for the page, started when it is first needed
let running = null;

export class Work {
  // pack: what the worker opens. The place has a line for progress and a button to stop.
  constructor(place, pack) {
    this.pack = pack;
    this.told = element('span', { role: 'status' });
    this.line = element('p', { class: 'work', hidden: true }, this.told, ' ', element('button', { type: 'button', class: 'stop', onclick: () => this.stop() }, 'Stop'));
    place.append(this.line);
  }

  stop() { helper.stop(); }

  // Resolves to the answer as Client.ask() does, with what was told last. One request works at a time: another one ends it.
  async ask(request, what) {
    if (running) running.stop();
    running = this;
    helper ??= new Client(window.engine.start, this.pack);
    this.told.textContent = `${what}…`;
    this.line.hidden = false;
    let last = '';
    const answer = await helper.ask(request, (text) => {
      last = text;
      [this.told.textContent] = text.split(' with --set ');
    });
    if (running === this) running = null;
    this.line.hidden = true;
    return { ...answer, last };
  }

  readFile(path) { return helper.readFile(path); }
}
