import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CapActivityElement, activityOf } from 'caphost/activity';
import { packageDir } from '../../scripts/paths.mjs';
import { connectPort, newHost } from './host.mjs';

/** @param {import('caphost/activity').Activity} activity @param {(calls: readonly import('caphost/activity').ActivityCall[]) => boolean} fits */
const until = (activity, fits) => new Promise((resolve) => {
  const look = () => fits(activity.calls()) && (stop(), resolve(activity.calls()));
  const stop = activity.subscribe(look);
  look();
});

async function watched() {
  const host = await newHost();
  const activity = activityOf(host);
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  return { host, activity, agent: await connectPort(port2, { agent: { name: 'watched', version: '1' } }) };
}

test('without elements the import does no harm, and the data is available', async () => {
  assert.equal(typeof CapActivityElement, 'function');
  const { host, activity, agent } = await watched();
  assert.equal(activityOf(host), activity);
  const empty = activity.calls();
  assert.deepEqual(empty, []);
  host.register('echo', {}, (params) => params);
  await agent.call('echo', {}, { callId: 'mine' });
  const [call] = await until(activity, ([first]) => first?.state === 'completed');
  const { callId, capability, agent: who, stopping } = /** @type {import('caphost/activity').ActivityCall} */ (call);
  assert.deepEqual([callId, capability, who?.name, stopping], ['mine', 'echo', 'watched', false]);
  assert.equal(activity.calls(), activity.calls());
  assert.notEqual(activity.calls(), empty);
});

test('a call has the title that its capability has when it is made', async () => {
  const { host, activity, agent } = await watched();
  host.register('export.pdf', { title: 'Export as PDF' }, () => {});
  host.register('echo', {}, () => {});
  await agent.call('export.pdf');
  await agent.call('echo');
  host.register('export.pdf', { title: 'Save as PDF', replace: true }, () => {});
  await agent.call('export.pdf');
  const calls = await until(activity, (it) => it.filter(({ state }) => state === 'completed').length === 3);
  assert.deepEqual(calls.map((/** @type {any} */ { title }) => title), ['Export as PDF', undefined, 'Save as PDF']);
  assert.throws(() => host.register('odd', /** @type {any} */ ({ title: 5 }), () => {}), /title must be of type string/);
});

test('calls of one id in two sessions are two calls', async () => {
  const { host, activity, agent } = await watched();
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const other = await connectPort(port2);
  host.register('hold', {}, (_params, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
  const [mine, theirs] = [agent.call('hold', {}, { callId: 'same' }), other.call('hold', {}, { callId: 'same' })];
  await until(activity, (calls) => calls.filter(({ state }) => state === 'running').length === 2);
  const found = activity.calls().find(({ agent: who }) => who?.name === 'watched');
  assert.ok(found);
  assert.deepEqual(await activity.stop(found), { callId: 'same', cancelled: true, metadata: { stop: 'returned' } });
  assert.equal((await mine).cancelled, true);
  assert.deepEqual(activity.calls().map(({ state }) => state).sort(), ['cancelled', 'running']);
  assert.equal((await other.cancel('same')).cancelled, true);
  assert.equal((await theirs).cancelled, true);
});

test('the latest ended calls are remembered, and all running calls', async () => {
  const { host, activity, agent } = await watched();
  host.register('hold', {}, (_params, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
  host.register('echo', {}, (params) => params);
  const held = agent.call('hold', {}, { callId: 'held' });
  for (let n = 0; n < 120; n += 1) await agent.call('echo', {}, { callId: `echo ${n}` });
  const ids = activity.calls().map(({ callId }) => callId);
  assert.deepEqual([ids.length, ids[0], ids[1], ids.at(-1)], [51, 'held', 'echo 70', 'echo 119']);
  await agent.cancel('held');
  await held;
});

test('the module is loaded only if it is imported', () => {
  for (const entry of ['index.js', 'agent.js', 'inline.js']) assert.ok(!readFileSync(join(packageDir, entry), 'utf8').includes('cap-activity'), entry);
  // The file contains no copies of other modules, and imports only the few bytes that it shares with the question to agents.
  const text = readFileSync(join(packageDir, 'activity.js'), 'utf8');
  assert.doesNotMatch(text, /\bimport\(/);
  for (const [, chunk = ''] of text.matchAll(/\b(?:from|import)"\.\/([^"]+)"/g)) assert.ok(readFileSync(join(packageDir, chunk)).length < 2_000, chunk);
});

test('a call has the hints that its capability has', async () => {
  const { host, activity, agent } = await watched();
  const annotations = { destructiveHint: true };
  host.register('notes.clear', { annotations }, () => {});
  await agent.call('notes.clear');
  const [call] = await until(activity, ([first]) => first?.state === 'completed');
  assert.deepEqual(call?.annotations, annotations);
});
