/**
 * Runs the vectors of `tests/conformance/abp/initialize.json`: what an agent requests with `initialize`,
 * and what it allows.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../scripts/paths.mjs';

/** @type {any[]} */
export const vectors = JSON.parse(readFileSync(join(root, 'tests', 'conformance', 'abp', 'initialize.json'), 'utf8'));

const INITIALIZE = {
  agent: { name: 'vectors', version: '1' },
  protocolVersion: '0.1',
  features: { notifications: true, progress: true, elicitation: true },
};

const CHANGED = 'notifications/capabilities/list_changed';

/** The capabilities in the vectors. */
export const OFFERED = ['a.one', 'a.two', 'b.one'];

/** The capabilities that are offered later. */
const LATER = ['a.three', 'b.two'];

/**
 * A plain agent of ABP.
 *
 * @typedef {object} Plain
 * @property {(type: string, payload: any) => Promise<any>} request resolves to the payload of the answer
 * @property {(envelope: any) => void} post
 * @property {any[]} unasked the received messages that are no answers
 */

/** @param {import('caphost').Host} host the agent's host */
function offer(host) {
  for (const name of [...OFFERED, ...LATER]) host.unregister(name);
  for (const name of OFFERED) host.register(name, { description: `It is ${name}` }, () => name);
  host.register('a.one', { replace: true, description: 'It is a.one' }, async (/** @type {any} */ { ask }, { elicit, call }) => {
    if (ask) return elicit({ method: ask, params: {}, timeout: 5_000 });
    // The agent's permissions do not limit which capabilities a capability calls.
    return (await call('b.one')).data;
  });
}

/**
 * @param {any} vector
 * @param {import('caphost').Host} host
 * @param {Plain} agent an agent without a session
 */
export async function runInitializeVector(vector, host, agent) {
  offer(host);
  const { features, ...more } = vector.initialize;
  const opened = await agent.request('initialize', { ...INITIALIZE, ...more, features: { ...INITIALIZE.features, ...features } });
  if (vector.refused) {
    assert.equal(opened.error?.code, 'INVALID_PARAMS');
    assert.deepEqual(opened.error.details, { path: vector.refused });
    assert.match(opened.error.message, new RegExp(`^Bad ${vector.refused}: it is `));
    // The refused request opened no session, and another session may be opened.
    assert.equal((await agent.request('capabilities/call', { capability: 'a.one' })).error.code, 'NOT_INITIALIZED');
    return;
  }
  const names = (/** @type {any[]} */ list) => list.map(({ name }) => name);
  assert.deepEqual(names(opened.capabilities), vector.capabilities);
  assert.equal(opened.features.elicitation, vector.elicitation);
  const { capabilities } = await agent.request('capabilities/list', {});
  assert.deepEqual(names(capabilities), vector.capabilities);
  for (const [capability, expected] of Object.entries(vector.calls)) {
    const { success, data, error } = await agent.request('capabilities/call', { capability, params: {} });
    if (expected === true) assert.deepEqual([success, data], [true, 'b.one'], capability);
    else assert.equal(error?.code, expected, capability);
  }
  for (const [method, expected] of Object.entries(vector.asks)) {
    const asked = agent.unasked.length;
    const answered = agent.request('capabilities/call', { capability: 'a.one', params: { ask: method } });
    if (expected === true && vector.capabilities.includes('a.one')) {
      const question = await heard(agent, (it) => it.type === 'elicitation/request');
      assert.equal(question.payload.method, method);
      agent.unasked.splice(agent.unasked.indexOf(question), 1);
      agent.post({ type: 'elicitation/response', id: question.id, timestamp: 0, payload: { success: true, data: method } });
      assert.equal((await answered).data.data, method);
    } else if (expected !== true) {
      const { data } = await answered;
      assert.deepEqual([data.success, data.error?.code], [false, expected], method);
      assert.deepEqual(agent.unasked.slice(asked).map(({ type }) => type), [], method);
    }
  }
  for (const name of LATER) host.register(name, {}, () => name);
  host.notify('vectors/over');
  await heard(agent, (it) => it.payload.event === 'vectors/over');
  const changes = agent.unasked.filter((it) => it.payload.event === CHANGED);
  assert.deepEqual(changes.flatMap((it) => it.payload.data.added), vector.changes);
  // An agent without notifications gets none.
  assert.equal(changes.length, Math.min(1, vector.changes.length));
}

/** @param {Plain} agent @param {(envelope: any) => boolean} fits @returns {Promise<any>} */
async function heard(agent, fits) {
  for (const deadline = Date.now() + 10_000; ;) {
    const found = agent.unasked.find(fits);
    if (found) return found;
    assert.ok(Date.now() < deadline, `not heard; but ${JSON.stringify(agent.unasked)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
