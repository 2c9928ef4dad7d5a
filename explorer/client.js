// The page's side of the workers: one promise for each request.

const clients = [];
const written = new Map();              // files that were opened in the page: each worker has them

export class Client {
  // start(): starts a worker; pack: what it opens. The first worker of the page is running, and `opening` is the promise of its first message.
  constructor(start, pack, worker = start(), opening = null) {
    Object.assign(this, { start, pack });
    this.use(worker, opening);
    clients.push(this);
  }

  use(worker, opening) {
    this.waiting = new Map();
    this.last = opening ? 1 : 0;
    this.worker = worker;
    this.worker.onmessage = ({ data }) => this.settle(data);
    this.worker.onerror = (event) => {
      for (const { reject } of this.waiting.values()) reject(new Error(event.message));
    };
    this.ready = (opening ?? this.send('open', this.pack)).then(() => Promise.all([...written].map(([path, content]) => this.send('write', { path, content }))));
  }

  // told(text): called with what long work tells of itself.
  send(kind, payload, told = null) {
    return new Promise((resolve, reject) => {
      this.last += 1;
      this.waiting.set(this.last, { resolve, reject, told });
      this.worker.postMessage({ id: this.last, kind, payload });
    });
  }

  settle({ id, answer, error, told }) {
    if (!this.waiting.has(id)) return;  // the first message is the page's own
    const { resolve, reject, told: tell } = this.waiting.get(id);
    if (told !== undefined) {
      tell?.(told);
      return;
    }
    this.waiting.delete(id);
    if (error) reject(new Error(error));
    else resolve(answer);
  }

  // Resolves to { status, output, messages }. A simulation that exhausts the memory ends the module: it is opened anew.
  async ask(request, told) {
    await this.ready;
    try {
      return await this.send('ask', request, told);
    } catch (error) {
      this.restart();
      return { status: 3, output: '', messages: `podbench: the simulation failed: ${error.message}` };
    }
  }

  restart() {
    this.worker.terminate();
    this.use(this.start());
  }

  // A worker that computes takes no message: it is ended, and the work's answer says that it was stopped.
  stop() {
    const { waiting } = this;
    this.restart();
    for (const { resolve } of waiting.values()) resolve({ status: 3, output: '', messages: 'stopped', isStopped: true });
  }

  async readFile(path) {
    await this.ready;
    return this.send('read', path);
  }
}

export async function writeFile(path, content) {
  written.set(path, content);
  await Promise.all(clients.map((client) => client.ready.then(() => client.send('write', { path, content }))));
}

// Runs a task with the newest argument only: while one runs, a newer argument replaces the one that waits.
export function newestOnly(task) {
  let running = false;
  let next = null;
  return async function run(argument) {
    if (running) {
      next = { argument };
      return;
    }
    running = true;
    await task(argument);
    running = false;
    if (next) {
      const { argument: newer } = next;
      next = null;
      await run(newer);
    }
  };
}
