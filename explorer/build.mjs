// node explorer/build.mjs BUILD: bundles the page, the simulator and its data into BUILD/explorer.html.
// The data: sheets, recipes with their graphs, published tables and reference points as they lie in the source tree, gzipped and in base64.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

const B = process.argv[2];
const modules = resolve(B, 'explorer/node_modules');
const { build } = createRequire(`${modules}/`)('esbuild');
const FOLDERS = ['system-model/specs', 'workloads/recipes', 'workloads/convergence', 'results/published', 'results/validity'];

function addFiles(out, folder) {
  for (const name of readdirSync(folder).sort()) {
    const path = `${folder}/${name}`;
    if (statSync(path).isDirectory()) addFiles(out, path);
    else if (/\.(csv|ini|onnx)$/.test(name)) out[path] = readFileSync(path);
  }
}

const packed = (data) => gzipSync(data, { level: 9 }).toString('base64');
const program = (...words) => JSON.parse(spawnSync(`${B}/podbench`, [...words, '--format', 'json'], { maxBuffer: 1 << 28 }).stdout);

// The length of a table of paths and lengths, the table, and the files' bytes; pack.js takes them apart.
function packFiles(files) {
  const table = Buffer.from(JSON.stringify(Object.entries(files).map(([path, bytes]) => [path, bytes.length])));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(table.length);
  return packed(Buffer.concat([length, table, ...Object.values(files)]));
}

async function bundle(entry) {
  const done = await build({
    entryPoints: [entry], bundle: true, minify: true, write: false, format: 'iife', target: 'es2022', nodePaths: [modules],
    alias: { 'podbench-module': resolve(B, 'wasm/podbench.mjs') }, logOverride: { 'empty-import-meta': 'silent' },
  });
  return done.outputFiles[0].text.replaceAll('</script', '<\\/script');
}

// What the page shows before the simulator has answered: the runs with their published figures, the keys and their choices.
function catalogue(files) {
  const texts = Object.entries(files).map(([path, bytes]) => [path, String(bytes)]);
  const key = (text, name) => text.match(new RegExp(`^${name} *= *(.*)$`, 'm'))?.[1] ?? '';
  const runs = texts.filter(([path]) => /^workloads\/recipes\/[^/]+\.ini$/.test(path)).map(([path, text]) => ({
    id: path.slice('workloads/recipes/'.length, -'.ini'.length), workload: key(text, 'workload'), system: key(text, 'system'), framework: key(text, 'framework'),
  }));
  const systems = texts.filter(([path, text]) => path.startsWith('system-model/specs/') && /^n_ipus,/m.test(text)).map(([path, text]) => ({
    name: path.slice('system-model/specs/'.length, -'.csv'.length), ipus: Number(text.match(/^n_ipus,(\d+)/m)[1]), board: text.match(/^board,([^,]*)/m)?.[1] ?? '',
  }));
  const figures = program('check');
  const published = figures.filter((row) => ['throughput_samples_per_s', 'time_to_train_min'].includes(row.metric))
    .map(({ id, recipe, metric, role, published: value, simulated, error }) => ({ id, recipe, metric, role, published: value, simulated, error }));
  const keys = program('list', 'keys').map(({ section, key: name, choices, help, default: usual }) => ({ name: `${section}.${name}`, choices, help, usual }));
  return { runs, systems, published, keys };
}

const files = {};
FOLDERS.forEach((folder) => addFiles(files, folder));
const css = [`${modules}/uplot/dist/uPlot.min.css`, 'plots/page.css', 'explorer/page.css'].map((path) => readFileSync(path, 'utf8')).join('\n');
const parts = {
  CSS: css,
  CATALOGUE: JSON.stringify(catalogue(files)).replaceAll('<', '\\u003c'),
  WASM: packed(readFileSync(`${B}/wasm/podbench.wasm`)),
  FILES: packFiles(files),
  ENGINE: await bundle('explorer/engine.js'),
  PAGE: await bundle('explorer/page.js'),
};
const filled = (text) => text.replace(/\{\{(\w+)\}\}/g, (all, name) => parts[name] ?? all);
const page = filled(readFileSync('explorer/page.html', 'utf8'));
// No script but the page's own runs, whatever an address or a file may bring along.
parts.HASHES = [...page.matchAll(/<script>([^]*?)<\/script>/g)].map(([, text]) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`).join(' ');
const html = page.replace('{{HASHES}}', parts.HASHES);
writeFileSync(`${B}/explorer.html`, html);
console.log(`${B}/explorer.html: ${(html.length / 1e6).toFixed(2)} MB`);
