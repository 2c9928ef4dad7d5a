// The simulator in a worker: opens the WebAssembly module on the packed data, then answers one request after the other.
import createModule from 'podbench-module';
import { gunzip, unpackFiles } from './pack.js';

let module;
let current = 0;                        // the request that is answered

const made = new Map();                 // folders that are there, as nodes: finding one again is slow

function folderOf(path) {
  const name = path.slice(0, path.lastIndexOf('/'));
  if (!made.has(name)) {
    module.FS.mkdirTree(name || '/');
    made.set(name, module.FS.lookupPath(name || '/').node);
  }
  return made.get(name);
}

// Adds a new file without a copy of its bytes.
function addFile(path, bytes) {
  const { FS } = module;
  const node = FS.filesystems.MEMFS.createNode(folderOf(path), path.slice(path.lastIndexOf('/') + 1), 0o100644, 0);
  Object.assign(node, { contents: bytes, usedBytes: bytes.length });
}

function writeFile(path, content) {
  folderOf(path);
  module.FS.writeFile(path, content);
}

// The simulator is compiled while it is unpacked.
async function open({ wasm, files }) {
  const unpacked = unpackFiles(files);
  module = await new Promise((resolve, reject) => {
    const instantiateWasm = (imports, done) => {
      WebAssembly.instantiateStreaming(gunzip(wasm, 'application/wasm'), imports).then(({ instance, module: compiled }) => done(instance, compiled), reject);
      return {};
    };
    createModule({ instantiateWasm, onTold: (told) => self.postMessage({ id: current, told }), locateFile: (name) => name }).then(resolve, reject);
  });
  for (const [path, bytes] of await unpacked) addFile(`/podbench/${path}`, bytes);
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
