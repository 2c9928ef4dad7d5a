// Files that are opened or dropped together. A recipe is simulated as it is, with the model that lies beside it; a model alone gets the recipe
// that `podbench init --model` writes for it.
import { writeFile } from './client.js';
import { DROPPED } from './state.js';

const opened = new Map();               // the models that were opened: name -> path of the newest
const models = new Map();               // recipes that were made for a model: path -> { model }
const texts = new Map();                // recipes that were opened: path -> text, which names models as their files are named

export const openedText = (run) => texts.get(run);
export const modelOf = (run) => models.get(run);
export const modelNamed = (name) => opened.get(name);

const safe = (name) => name.slice(name.lastIndexOf('/') + 1).replace(/[^\w.-]/g, '_').replace(/^\.+/, '_');
const MODEL_LINE = /^(\s*workload\s*=\s*)(.*\.onnx)\s*$/m;

function newFolder() {
  newFolder.last = Math.max(Date.now(), (newFolder.last ?? 0) + 1);
  return `${DROPPED}${newFolder.last}/`;
}

// The recipe of a model, to train it or to infer. Returns its path.
export async function recipeFor(client, model, mode) {
  const name = model.slice(model.lastIndexOf('/') + 1);
  const answer = await client.ask({ command: 'recipe', arguments: [model, name.slice(0, -'.onnx'.length)], set: mode ? [`recipe.mode=${mode}`] : [] });
  if (answer.status !== 0) throw new Error(answer.messages.trim());
  const path = `${newFolder()}${name.replace(/onnx$/, 'ini')}`;
  await writeFile(path, answer.output);
  texts.set(path, answer.output.replaceAll(model, name));
  models.set(path, { model });
  return path;
}

// Keeps a recipe that the simulator wrote as if it had been opened. Returns its path.
export async function keepRecipe(name, text) {
  const path = `${newFolder()}${safe(name)}`;
  await writeFile(path, text);
  texts.set(path, text);
  return path;
}

// Returns the paths of the recipes; the message of an error names what is missing.
export async function openFiles(client, files) {
  const folder = newFolder();
  const names = files.map((file) => safe(file.name));
  const recipes = [];
  for (const [i, file] of files.entries()) {
    if (names[i].endsWith('.ini')) continue;
    await writeFile(folder + names[i], new Uint8Array(await file.arrayBuffer()));
    if (names[i].endsWith('.onnx')) opened.set(names[i], folder + names[i]);
  }
  for (const [i, file] of files.entries()) {
    if (!names[i].endsWith('.ini')) continue;
    const text = (await file.text()).replace(MODEL_LINE, (all, key, path) => key + safe(path));
    const model = text.match(MODEL_LINE)?.[2];
    if (model && !names.includes(model)) throw new Error(`${names[i]} describes the model ${model}: open both files together`);
    await writeFile(folder + names[i], text);
    texts.set(folder + names[i], text);
    recipes.push(folder + names[i]);
  }
  const alone = names.filter((name) => name.endsWith('.onnx'));
  if (recipes.length === 0 && alone.length === 0) throw new Error(`${names.join(', ')}: want a recipe (.ini), an ONNX file (.onnx), or both`);
  for (const name of recipes.length ? [] : alone) recipes.push(await recipeFor(client, folder + name));
  return recipes;
}
