// The page's side of the worker: one promise for each request.

export class Client {
  // worker: one that was started; again(): starts another; pack: what it opens.
  constructor(worker, again, pack) {
    this.again = again;
    this.pack = pack;
    this.start(worker);
  }

  start(worker) {
    this.waiting = new Map();
    this.last = 0;
    this.worker = worker;
    this.worker.onmessage = ({ data }) => this.settle(data);
    this.worker.onerror = (event) => {
      for (const { reject } of this.waiting.values()) reject(new Error(event.message));
    };
    this.ready = this.send('open', this.pack);
  }

  send(kind, payload) {
    return new Promise((resolve, reject) => {
      this.last += 1;
      this.waiting.set(this.last, { resolve, reject });
      this.worker.postMessage({ id: this.last, kind, payload });
    });
  }

  settle({ id, answer, error }) {
    const { resolve, reject } = this.waiting.get(id);
    this.waiting.delete(id);
    if (error) reject(new Error(error));
    else resolve(answer);
  }

  // Resolves to { status, output, messages }. A simulation that exhausts the memory ends the module: it is opened anew.
  async ask(request) {
    await this.ready;
    try {
      return await this.send('ask', request);
    } catch (error) {
      this.worker.terminate();
      this.start(this.again());
      return { status: 3, output: '', messages: `podbench: the simulation failed: ${error.message}` };
    }
  }

  async writeFile(path, content) {
    await this.ready;
    await this.send('file', { path, content });
  }
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
