import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectPort } from 'caphost/agent';
import { inPage, newHost } from './host.mjs';

const CALLS = 2000;
const limits = { maxInFlight: Infinity, maxRequestsPerSecond: Infinity, maxInFlightBytes: Infinity };

/** @param {import('node:test').TestContext} t @param {import('caphost').Host} host */
async function ways(t, host) {
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  t.after(() => port2.close());
  return /** @type {[string, any][]} */ ([['the page', await inPage(host)], ['a port', await connectPort(port2)]]);
}

/** Makes a host whose calls wait for their abort, and then call `onAbort` with their number. @param {{ onAbort?: (n: number) => void }} hooks */
async function waiting(hooks) {
  /** @type {(() => void) | undefined} */
  let ready;
  const host = await newHost(limits);
  host.register('wait', {}, ({ n }, { signal }) => new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      hooks.onAbort?.(n);
      reject(signal.reason);
    });
    if (n === CALLS - 1) ready?.();
  }));
  return { host, started: () => new Promise((resolve) => (ready = () => resolve(undefined))) };
}

test('calls that cancel each other within their aborts, thousands deep, all end and all are confirmed', { timeout: 60_000 }, async (t) => {
  /** @type {{ onAbort?: (n: number) => void }} */
  const hooks = {};
  const { host, started } = await waiting(hooks);
  for (const [way, agent] of await ways(t, host)) {
    const all = started();
    const calls = Array.from({ length: CALLS }, (_, n) => agent.call('wait', { n }, { callId: `${way} ${n}` }));
    await all;
    /** @type {any[]} */
    const cancels = [];
    const cancel = (/** @type {number} */ n) => void (n < CALLS && cancels.push(agent.cancel(`${way} ${n}`)));
    hooks.onAbort = (n) => cancel(n + 1);
    cancel(0);
    const ends = await Promise.all(calls);
    assert.equal(ends.filter((it) => it.cancelled).length, CALLS, way);
    assert.equal((await Promise.all(cancels)).filter((it) => it.cancelled).length, CALLS, way);
    assert.equal(host.stats().inFlight, 0, way);
  }
});

test('calls of a handler that abort each other within their aborts, thousands deep, all end', { timeout: 60_000 }, async (t) => {
  /** @type {{ onAbort?: (n: number) => void }} */
  const hooks = {};
  const { host, started } = await waiting(hooks);
  host.register('parent', {}, async (_, { call }) => {
    const controllers = Array.from({ length: CALLS }, () => new AbortController());
    hooks.onAbort = (n) => controllers[n + 1]?.abort();
    const all = started();
    const calls = controllers.map(({ signal }, n) => call('wait', { n }, { signal }));
    await all;
    controllers[0]?.abort();
    return (await Promise.all(calls)).filter((/** @type {any} */ it) => it.cancelled).length;
  });
  for (const [way, agent] of await ways(t, host)) {
    assert.equal((await agent.call('parent')).data, CALLS, way);
    assert.equal(host.stats().inFlight, 0, way);
  }
});
