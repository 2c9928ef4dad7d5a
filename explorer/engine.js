// The simulator in a worker: opens the WebAssembly module on the packed data, then answers one request after the other.
import createModule from 'podbench-module';

let module;

async function gunzip(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')));
}

function writeFile(path, content) {
  module.FS.mkdirTree(path.slice(0, path.lastIndexOf('/')));
  module.FS.writeFile(path, content);
}

async function open({ wasm, files }) {
  const binary = (await gunzip(wasm)).arrayBuffer();
  const texts = (await gunzip(files)).json();
  module = await createModule({ wasmBinary: await binary, locateFile: (name) => name });
  for (const [path, text] of Object.entries(await texts)) writeFile(`/podbench/${path}`, text);
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
  try {
    let answer = null;
    if (kind === 'open') await open(payload);
    else if (kind === 'file') writeFile(payload.path, payload.content);
    else answer = ask(payload);
    self.postMessage({ id, answer });
  } catch (error) {
    self.postMessage({ id, error: String(error.message || error) });
  }
};
