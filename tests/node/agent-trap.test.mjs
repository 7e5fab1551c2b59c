import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agent } from '../../src/web/js/agent.js';

const internal = { code: 'INTERNAL_ERROR', message: 'The agent has failed and cannot go on', retryable: false };

/** Causes a wasm trap: the only instruction of this module is `unreachable`. */
const trap = /** @type {() => never} */ (
  new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.of(
    0, 97, 115, 109, 1, 0, 0, 0, // header
    1, 4, 1, 0x60, 0, 0, // one type: no parameters, no results
    3, 2, 1, 0, // one function of it
    7, 5, 1, 1, 116, 0, 0, // exported as t
    10, 5, 1, 3, 0, 0, 11, // unreachable
  ))).exports.t
);

let entered = 0;
let key = 0;
const count = () => void (entered += 1);
/** A substitute for the wasm part, which traps at the first reply of a host. */
const handle = {
  open: () => (count(), 1),
  forget: count,
  ids: () => crypto.randomUUID(),
  call: () => (count(), (key += 1)),
  cancel: () => (count(), (key += 1)),
  list: () => (count(), (key += 1)),
  flush: count,
  drive: count,
  heard: trap,
  shutdown: count,
  disconnected: count,
};

function newAgent() {
  /** @type {any} */
  const messenger = { closed: 0, post() {}, close() { messenger.closed += 1; } };
  return { agent: new Agent(handle, messenger, { sessionId: 's', app: {}, capabilities: [] }, {}), messenger };
}

// The module's instance is lost for good, so these tests belong together, in this order.

test('a trap in one agent settles all pending requests of every agent of the instance, cancels first', async (t) => {
  t.mock.method(console, 'error', () => {});
  const agents = [newAgent(), newAgent()];
  const { signal } = new AbortController();
  const removed = t.mock.method(signal, 'removeEventListener');
  /** @type {string[]} */
  const order = [];
  const answers = agents.map(({ agent }, at) => [
    agent.call('x', {}, { signal }).finally(() => order.push(`call ${at}`)),
    agent.cancel('x').finally(() => order.push(`cancel ${at}`)),
  ]);
  const lists = agents.map(({ agent }) => assert.rejects(agent.listCapabilities(), { name: 'CapHostError', ...internal }));
  agents[0]?.messenger.onmessage({});
  await Promise.all(lists);
  for (const [call, cancel] of answers) {
    assert.deepEqual(await call, { success: false, error: internal });
    assert.deepEqual(await cancel, { callId: 'x', cancelled: false, reason: internal.message, error: internal });
  }
  assert.deepEqual(order, ['cancel 0', 'call 0', 'cancel 1', 'call 1']);
  assert.equal(removed.mock.callCount(), 2);
  for (const { agent, messenger } of agents) {
    assert.equal(await agent.closed, 'failed');
    assert.equal(messenger.closed, 1);
  }
});

test('a lost instance is never entered again, by an old agent or a new one', async () => {
  const before = entered;
  const { agent, messenger } = newAgent();
  assert.equal(await agent.closed, 'failed');
  assert.deepEqual(await agent.call('x'), { success: false, error: internal });
  assert.deepEqual((await agent.cancel('x')).error, internal);
  await assert.rejects(agent.listCapabilities(), { name: 'CapHostError', ...internal });
  await agent.shutdown();
  assert.equal(messenger.closed, 1);
  assert.equal(entered, before);
});
