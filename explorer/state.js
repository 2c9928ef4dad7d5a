// What is chosen: a recipe and the settings put over it. It is kept in the page's address, so that a link shows the same answer.

// Files that were opened in the page lie here, each in a folder of its own.
export const DROPPED = '/dropped/';

const PREFIX = { now: '', kept: 'a.' };

// { run, sets: {key: value}, kept: {run, sets} or null }
export function readAddress(hash, fallback) {
  const found = { now: { run: fallback, sets: {} }, kept: { run: null, sets: {} } };
  for (const [name, value] of new URLSearchParams(hash.replace(/^#/, ''))) {
    const which = name.startsWith(PREFIX.kept) ? 'kept' : 'now';
    const key = name.slice(PREFIX[which].length);
    if (key === 'run') found[which].run = value;
    else if (key.includes('.')) found[which].sets[key] = value;
  }
  return { ...found.now, kept: found.kept.run ? found.kept : null };
}

export function writeAddress(state) {
  const out = new URLSearchParams();
  const add = (prefix, { run, sets }) => {
    out.append(`${prefix}run`, run);
    for (const [key, value] of Object.entries(sets)) out.append(prefix + key, value);
  };
  add(PREFIX.now, state);
  if (state.kept) add(PREFIX.kept, state.kept);
  return `#${out}`;
}

export function settingsOf({ sets }) {
  return Object.entries(sets).map(([key, value]) => `${key}=${value}`);
}

// A file that was opened is known to the reader by its name alone.
export const runName = (run) => (run.startsWith(DROPPED) ? run.slice(run.lastIndexOf('/') + 1) : run);

const quoted = (text) => (/^[\w.,=/+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

export function commandLine(command, state, more = []) {
  return ['podbench', command, quoted(runName(state.run)), ...settingsOf(state).map((s) => `--set ${quoted(s)}`), ...more].join(' ');
}

// The recipe's text with the settings in place: a key that is there is replaced, another one is added to its section. Values of sheets
// have no place in a recipe; a comment at the top names the options that set them.
export function recipeText(text, state) {
  const ofSheets = settingsOf(state).filter((s) => s.startsWith('machine.'));
  const lines = text.split('\n');
  for (const [name, value] of Object.entries(state.sets)) {
    const [section, ...rest] = name.split('.');
    if (section !== 'machine') setKey(lines, section, rest.join('.'), value);
  }
  if (ofSheets.length) lines.unshift(`# To be run with ${ofSheets.map((s) => `--set ${s}`).join(' ')}`);
  return lines.join('\n');
}

function setKey(lines, section, key, value) {
  const start = lines.findIndex((line) => line.trim() === `[${section}]`);
  if (start === -1) {
    if (value !== '') lines.push('', `[${section}]`, `${key} = ${value}`);
    return;
  }
  let end = lines.findIndex((line, i) => i > start && line.trim().startsWith('['));
  if (end === -1) end = lines.length;
  const at = lines.findIndex((line, i) => i > start && i < end && line.split('=')[0].trim() === key);
  if (at !== -1) lines.splice(at, 1, ...(value === '' ? [] : [`${key} = ${value}`]));
  else if (value !== '') lines.splice(start + 1, 0, `${key} = ${value}`);
}
