import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Agent } from '../../src/web/js/agent.js';

const internal = { code: 'INTERNAL_ERROR', message: 'The agent has failed and cannot go on', retryable: false };

/** A trap, as it comes out of wasm: the one instruction of this module is `unreachable`. */
const trap = /** @type {() => never} */ (
  new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.of(
    0, 97, 115, 109, 1, 0, 0, 0, // header
    1, 4, 1, 0x60, 0, 0, // one type: no parameters, no results
    3, 2, 1, 0, // one function of it
    7, 5, 1, 1, 116, 0, 0, // exported as t
    10, 5, 1, 3, 0, 0, 11, // unreachable
  ))).exports.t
);

/** An agent on a wasm half that traps at its first reply. @param {import('node:test').TestContext} t */
function agentThatTraps(t) {
  t.mock.method(console, 'error', () => {});
  let key = 0;
  const handle = {
    open: () => 1,
    forget() {},
    call: () => (key += 1),
    cancel: () => (key += 1),
    drive() {},
    heard: trap,
    shutdown() {},
    disconnected() {},
  };
  /** @type {any} */
  const messenger = { post() {}, close() { messenger.closed = true; } };
  return { agent: new Agent(handle, messenger, { sessionId: 's', app: {}, capabilities: [] }, {}), messenger };
}

describe('an agent whose wasm instance traps', () => {
  test('settles every pending call and cancel with INTERNAL_ERROR, cancels first', async (t) => {
    const { agent, messenger } = agentThatTraps(t);
    /** @type {string[]} */
    const order = [];
    const call = agent.call('x').finally(() => order.push('call'));
    const cancel = agent.cancel('x').finally(() => order.push('cancel'));
    messenger.onmessage({});
    assert.deepEqual(await call, { success: false, error: internal });
    assert.deepEqual(await cancel, { callId: 'x', cancelled: false, reason: internal.message, error: internal });
    assert.deepEqual(order, ['cancel', 'call']);
    assert.equal(await agent.closed, 'failed');
    assert.equal(messenger.closed, true);
  });

  test('answers what comes later likewise, and is never entered again', async (t) => {
    const { agent, messenger } = agentThatTraps(t);
    messenger.onmessage({});
    assert.deepEqual(await agent.call('x'), { success: false, error: internal });
    assert.deepEqual((await agent.cancel('x')).error, internal);
    await agent.shutdown();
  });

  test('lets go of the signals of its callers', async (t) => {
    const { agent, messenger } = agentThatTraps(t);
    const { signal } = new AbortController();
    const removed = t.mock.method(signal, 'removeEventListener');
    const call = agent.call('x', {}, { signal });
    messenger.onmessage({});
    await call;
    assert.equal(removed.mock.callCount(), 1);
  });
});
