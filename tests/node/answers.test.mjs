import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { connectPort } from 'caphost/agent';
import { root } from '../../scripts/paths.mjs';

const { calls, cancels } = JSON.parse(readFileSync(join(root, 'tests/conformance/abp/answers.json'), 'utf8'));

/**
 * Connects an agent to an app that answers calls and cancels with the given values.
 *
 * @param {any} call
 * @param {any} [cancel]
 */
async function answered(call, cancel) {
  const { port1, port2 } = new MessageChannel();
  const say = (/** @type {string} */ type, /** @type {any} */ id, /** @type {any} */ payload) => port2.postMessage({ type, id, timestamp: Date.now(), payload });
  /** @type {unknown} */
  let called;
  port2.on('message', ({ type, id }) => {
    if (type === 'initialize') {
      const features = { notifications: false, progress: false, elicitation: false, dynamicCapabilities: false };
      say('initialize-result', id, { sessionId: 's', protocolVersion: '0.1', app: { id: 'a', name: 'A', version: '1' }, capabilities: [], features });
    }
    if (type === 'capabilities/call') {
      called = id;
      if (call !== undefined) say('capabilities/call-result', id, call);
    }
    if (type === 'capabilities/cancel') {
      say('capabilities/cancel-result', id, cancel);
      say('capabilities/call-result', called, { success: true, data: 'went on' });
    }
  });
  const agent = await connectPort(/** @type {any} */ (port1), { grace: 2_000 });
  return { agent, end: () => { port1.close(); port2.close(); } };
}

test('how an answer to a call is read', async () => {
  for (const { payload, is } of calls) {
    const { agent, end } = await answered(payload);
    const response = await agent.call('x', {}, { callId: 'mine' });
    const what = JSON.stringify(payload);
    const { success, cancelled, data, error, metadata } = response;
    if (is.unreadable) assert.equal(error?.code, 'TRANSPORT_ERROR', what);
    else if (is.cancelled) assert.deepEqual([success, cancelled, metadata?.stop], [false, true, is.cancelled], what);
    else if (is.error) assert.deepEqual([success, cancelled ?? false, error], [false, false, is.error], what);
    else assert.deepEqual([success, cancelled ?? false, data ?? null], [true, false, is.success], what);
    end();
  }
});

test('how an answer to a cancel is read', async () => {
  for (const { payload, is } of cancels) {
    const { agent, end } = await answered(undefined, payload);
    const call = agent.call('x', {}, { callId: 'mine' });
    await Promise.resolve();
    const { cancelled, error, metadata } = await agent.cancel('mine');
    const what = JSON.stringify(payload);
    if (is === 'unreadable') assert.deepEqual([cancelled, error?.code], [false, 'TRANSPORT_ERROR'], what);
    else assert.deepEqual([cancelled, metadata?.stop], is === false ? [false, undefined] : [true, is], what);
    if (is === 'unreadable') assert.equal((await call).data, 'went on', what);
    end();
  }
});

test('what has stopped a call is passed on only if it is a known step and a possible time', async () => {
  for (const [step, took, known] of [
    ['terminate', 57.25, { step: 'terminate', took: 57.25 }],
    ['flag', 0, { step: 'flag', took: 0 }],
    ['kill', 7, {}],
    ['flag', -1, {}],
    ['flag', NaN, {}],
    ['flag', Infinity, {}],
    ['flag', '7', {}],
    ['flag', undefined, {}],
    [undefined, 7, {}],
  ]) {
    const metadata = { stop: 'terminated', step, took };
    const confirmed = { callId: 'mine', cancelled: true, metadata };
    const { agent, end } = await answered(undefined, confirmed);
    const call = agent.call('x', {}, { callId: 'mine' });
    await Promise.resolve();
    // The call has ended, and a repeated cancel gets the same answer.
    for (const asked of [agent.cancel('mine'), call, agent.cancel('mine')]) {
      assert.deepEqual((await asked).metadata, { stop: 'terminated', .../** @type {object} */ (known) }, `${step} ${took}`);
    }
    end();
  }
});

test('the confirmation of the first of three cancels counts although it comes late, and the others are never answered', async (t) => {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  /** @type {string[]} */
  const asked = [];
  const say = (/** @type {string} */ type, /** @type {any} */ id, /** @type {any} */ payload) => port2.postMessage({ type, id, timestamp: Date.now(), payload });
  port2.on('message', ({ type, id }) => {
    if (type === 'initialize') {
      const features = { notifications: false, progress: false, elicitation: false, dynamicCapabilities: false };
      say('initialize-result', id, { sessionId: 's', protocolVersion: '0.1', app: { id: 'a', name: 'A', version: '1' }, capabilities: [], features });
    }
    if (type === 'capabilities/call' && asked.length > 0) say('capabilities/call-result', id, { success: true, data: null });
    if (type === 'capabilities/cancel') asked.push(id);
  });
  const agent = await connectPort(/** @type {any} */ (port1), { grace: 200 });
  const held = agent.call('x', {}, { callId: 'held' });
  await Promise.resolve();
  const given = await Promise.all([1, 2, 3].map(() => agent.cancel('held')));
  assert.deepEqual(given.map(({ error }) => error?.code), ['TIMEOUT', 'TIMEOUT', 'TIMEOUT']);
  assert.equal((await held).error?.code, 'TIMEOUT');
  say('capabilities/cancel-result', asked[0], { callId: 'held', cancelled: true, metadata: { stop: 'returned' } });
  // This answer comes after the confirmation.
  await agent.call('x');
  const { cancelled, metadata } = await agent.cancel('held');
  assert.deepEqual([cancelled, metadata?.stop], [true, 'returned']);
});
