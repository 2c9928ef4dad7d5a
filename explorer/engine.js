// The simulator in a worker: opens the WebAssembly module on the packed data, then answers one request after the other.
import createModule from 'podbench-module';

let module;
let current = 0;                        // the request that is answered

const made = new Set(['']);             // folders that are there: making one again is slow

async function gunzip(base64, type) {
  const packed = await fetch(`data:application/octet-stream;base64,${base64}`);
  return new Response(packed.body.pipeThrough(new DecompressionStream('gzip')), { headers: { 'content-type': type } });
}

function writeFile(path, content) {
  const folder = path.slice(0, path.lastIndexOf('/'));
  if (!made.has(folder)) module.FS.mkdirTree(folder);
  made.add(folder);
  module.FS.writeFile(path, content);
}

// The simulator is compiled while it is unpacked.
async function open({ wasm, files }) {
  const texts = gunzip(files, 'application/json').then((response) => response.json());
  module = await new Promise((resolve, reject) => {
    const instantiateWasm = (imports, done) => {
      WebAssembly.instantiateStreaming(gunzip(wasm, 'application/wasm'), imports).then(({ instance, module: compiled }) => done(instance, compiled), reject);
      return {};
    };
    createModule({ instantiateWasm, onTold: (told) => self.postMessage({ id: current, told }), locateFile: (name) => name }).then(resolve, reject);
  });
  for (const [path, text] of Object.entries(await texts)) writeFile(`/podbench/${path}`, path.endsWith('.onnx') ? Uint8Array.from(text, (c) => c.charCodeAt(0)) : text);
  module.FS.chdir('/podbench');
  if (!module.ccall('explorer_open', 'number', [], [])) throw new Error('the packed data is incomplete');
}

// What a command prints, and its exit status. A file that was dropped on the page is written before the first request that names it.
function ask(request) {
  const status = module.ccall('explorer_ask', 'number', ['string'], [JSON.stringify(request)]);
  const text = (name) => module.UTF8ToString(module.ccall(name, 'number', [], []));
  return { status, output: text('explorer_output'), messages: text('explorer_messages') };
}

self.onmessage = async ({ data }) => {
  const { id, kind, payload } = data;
  current = id;
  try {
    let answer = null;
    if (kind === 'open') await open(payload);
    else if (kind === 'write') writeFile(payload.path, payload.content);
    else if (kind === 'read') answer = module.FS.readFile(payload, { encoding: 'utf8' });
    else answer = ask(payload);
    self.postMessage({ id, answer });
  } catch (error) {
    self.postMessage({ id, error: String(error.message || error) });
  }
};
