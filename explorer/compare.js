// Two configurations side by side, and what each difference between them costs, as `podbench diff` says it.
import { drawBars } from './bars.js';
import { commandLine, runName, settingsOf } from './state.js';
import { bytes, copyButton, element, joules, number, percent, seconds, signedPercent, table } from './view.js';

const ROWS = [
  ['Throughput, samples/s', (r) => r.throughput_samples_per_s, number], ['Step', (r) => r.step_time_s, seconds], ['Time to train', (r) => r.time_to_train_s, seconds],
  ['MFU', (r) => r.mfu, percent], ['Energy of a step', (r) => r.energy_per_step_j, joules], ['Fullest tile', (r) => r.memory_peak_bytes_per_tile, bytes],
  ['Global batch', (r) => r.global_batch, number], ['IPUs', (r) => r.ipus, number],
];

function differences(kept, now) {
  return table('The kept configuration and this one', ['', 'kept', 'this one', 'change'], ROWS.map(([name, of, text]) => {
    const [a, b] = [of(kept), of(now)];
    return [name, a ? text(a) : '–', b ? text(b) : '–', a && b ? signedPercent(b / a - 1) : '–'];
  }));
}

function drawSteps(place, kept, now) {
  const names = now.part_names;
  const row = (label, { result }) => ({ label, values: names.map((name) => result.breakdown[name] ?? 0) });
  drawBars(place, { caption: 'Where the time of both steps goes', names, text: seconds, rows: [row('kept', kept), row('this', now)],
    summary: 'Mean of the IPUs, on one scale.' });
  return place;
}

function reasons(diff) {
  if (diff.causes.length === 0) return element('p', { class: 'note' }, 'Nothing that matters differs.');
  const kept = diff.a.step_time_s;
  const ms = (x) => `${x >= 0 ? '+' : '−'}${seconds(Math.abs(x)).replace('–', '0 s')}`;
  return table('What each change does to a step, one after the other', ['change', 'step', 'share of the kept step', 'alone'],
    diff.causes.map(({ cause, step_time_s: change, alone }) => [cause, ms(change), signedPercent(change / kept), alone ? ms(alone.step_time_s) : 'refused']));
}

function guesses({ a_guess: kept, b_guess: now }) {
  return kept || now ? element('p', { class: 'note' }, `${kept && now ? 'Both are guesses' : `${kept ? 'The kept one' : 'This one'} is a guess`}: no published run is near.`) : null;
}

export async function drawCompare(place, { client, state, pictures, keep, drop }) {
  if (!state.kept) {
    place.replaceChildren(element('p', { class: 'note' }, 'Keep this configuration, then change something: both stand side by side, with the reasons of the difference.'),
      element('p', { class: 'buttons' }, element('button', { type: 'button', id: 'keep', onclick: keep }, 'Keep this configuration')));
    return;
  }
  const settings = (from, name) => settingsOf(from).map((text) => `${name}${text}`);
  const set = [...settings(state.kept, 'a:'), ...settings(state, 'b:')];
  const answer = await client.ask({ command: 'diff', arguments: [state.kept.run, state.run], set, format: 'json' });
  const command = `podbench diff ${runName(state.kept.run)} ${runName(state.run)} ${set.map((text) => `--set '${text}'`).join(' ')}`;
  place.replaceChildren(element('p', { class: 'buttons' }, element('button', { type: 'button', onclick: keep }, 'Keep this one instead'),
    element('button', { type: 'button', onclick: drop }, 'Drop the kept one'), copyButton('Copy the command', () => command)),
  differences(pictures.kept.result, pictures.now.result), drawSteps(element('div'), pictures.kept, pictures.now),
  ...(answer.status < 2 && answer.output ? [guesses(JSON.parse(answer.output)), reasons(JSON.parse(answer.output))] : [element('p', { class: 'error' }, answer.messages)]).filter(Boolean));
}

export const runCommand = (state) => commandLine('run', state);
