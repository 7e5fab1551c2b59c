/** Calls that wait hold their parameters: an agent must not be able to fill the page with them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inPage, newHost, onPort } from './host.mjs';

const MB = 2 ** 20;

/** Makes a host with a capability that runs one call at a time, until the call is cancelled. @param {Partial<import('caphost').HostOptions>} [options] */
async function holding(options) {
  const host = await newHost(options);
  host.register('hold', { concurrency: 1, inputSchema: { type: 'object' } }, (_, { signal }) => new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  }));
  return host;
}

/** Makes calls, and returns how many are accepted. @param {any} host @param {any} agent @param {any} params @param {number} calls @param {string} id */
async function accepted(host, agent, params, calls, id) {
  const before = host.stats().calls;
  const answers = Array.from({ length: calls }, (_, at) => agent.ask('capabilities/call', { capability: 'hold', params, options: { callId: `${id}${at}` } }));
  // This cancel is answered after all calls have been handled.
  await agent.ask('capabilities/cancel', { callId: 'none' });
  const count = host.stats().calls - before;
  const refused = await Promise.all(answers.slice(count));
  for (const { error } of refused) assert.deepEqual([error.code, error.message, error.retryable], ['RATE_LIMITED', 'Too many calls are in flight', true]);
  return count;
}

test('calls with large parameters that wait are bounded in bytes', async () => {
  const host = await holding();
  const agent = onPort(host);
  await agent.initialize();
  const count = await accepted(host, agent, { a: 'x'.repeat(4 * MB) }, 40, 'a');
  assert.equal(count, 16);
  // Another agent has its own bound.
  const other = onPort(host);
  await other.initialize();
  assert.equal(await accepted(host, other, { a: 1 }, 1, 'b'), 1);
  // An ended call no longer counts, whether it ran or waited.
  for (const callId of ['a0', 'a9']) assert.equal((await agent.ask('capabilities/cancel', { callId })).cancelled, true);
  assert.equal(await accepted(host, agent, { a: 'x'.repeat(4 * MB) }, 4, 'c'), 2);
});

test('waiting calls with many small values are bounded by the memory of the values', async () => {
  const host = await holding();
  for (const [value, bytes] of /** @type {[any, number][]} */ ([[{}, 25], [[], 25], [1.5, 25], ['', 26], [{ a: 1 }, 54]])) {
    const agent = onPort(host);
    await agent.initialize();
    const count = await accepted(host, agent, { a: Array.from({ length: 200_000 }, () => structuredClone(value)) }, 20, 'a');
    assert.equal(count, Math.ceil(64 * MB / (200_000 * bytes)), JSON.stringify(value));
  }
});

test('a large text that is a property of an array beside its elements counts', async () => {
  const host = await holding();
  const agent = onPort(host);
  await agent.initialize();
  const params = { a: Object.assign([1], { beside: 'x'.repeat(4 * MB) }) };
  assert.equal(await accepted(host, agent, params, 40, 'a'), 16);
});

test('waiting calls with binary data are bounded by the memory of the data', async () => {
  const host = await holding();
  const shared = new SharedArrayBuffer(8 * MB);
  const same = new ArrayBuffer(8 * MB);
  for (const [what, make, most] of /** @type {[string, () => any, number][]} */ ([
    ['a buffer', () => new ArrayBuffer(8 * MB), 8],
    ['a view', () => new Uint8Array(8 * MB), 8],
    ['a small view of a large buffer', () => new DataView(new ArrayBuffer(8 * MB), 7, 1), 8],
    ['shared memory', () => shared, 8],
    ['several views of one buffer', () => [same, new Uint8Array(same), new Float64Array(same)], 8],
    ['several buffers', () => new Map([[1, { a: new ArrayBuffer(8 * MB) }], [2, { a: [new ArrayBuffer(8 * MB)] }]]), 4],
    ['nothing', () => new ArrayBuffer(0), 20],
  ])) {
    const agent = onPort(host);
    await agent.initialize();
    assert.equal(await accepted(host, agent, { a: make() }, 20, 'a'), most, what);
    agent.hostPort.close();
  }
});

test('waiting calls with named properties of a long list are bounded by the memory of the properties', async () => {
  const host = await holding();
  for (const [what, more] of /** @type {[string, any][]} */ ([['value', { a: 'x'.repeat(8 * MB) }], ['name', { ['x'.repeat(8 * MB)]: 1 }]])) {
    const agent = onPort(host);
    await agent.initialize();
    assert.equal(await accepted(host, agent, { a: Object.assign(Array(1100).fill(1), more) }, 20, 'a'), 8, what);
    const { error } = await agent.ask('capabilities/call', { capability: 'hold', params: { a: Object.assign(Array(100_000).fill(1), { a: 'x'.repeat(17 * MB) }) } });
    assert.equal(error.code, 'INVALID_PARAMS');
  }
});

test('calls with the same id in all messages, or without an id, count too', async () => {
  const host = await holding({ maxInFlightBytes: MB });
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const post = (/** @type {string} */ type, /** @type {any} */ payload, /** @type {any} */ id) => port2.postMessage({ type, id, timestamp: 0, payload });
  /** @type {Promise<void>} */
  const told = new Promise((resolve) => {
    port2.onmessage = ({ data }) => data.id === 'last' && resolve();
  });
  post('initialize', { agent: { name: 'node', version: '1' }, protocolVersion: '0.1' }, 'first');
  for (let at = 0; at < 20; at += 1) post('capabilities/call', { capability: 'hold', params: { a: 'x'.repeat(MB / 4) } }, at % 2 ? 'same' : undefined);
  post('capabilities/cancel', { callId: 'none' }, 'last');
  await told;
  assert.deepEqual([host.stats().calls, host.stats().inFlight], [4, 4]);
  port2.close();
});

test('maxInFlightBytes is a number, and the first call of a session is accepted for any value', async () => {
  await assert.rejects(newHost({ maxInFlightBytes: -1 }), /maxInFlightBytes must be a number, not negative/);
  const host = await holding({ maxInFlightBytes: 10 });
  const abp = await inPage(host);
  const held = abp.call('hold', { a: 'x'.repeat(1000) }, { callId: 'a' });
  assert.equal((await abp.call('hold', {})).error?.code, 'RATE_LIMITED');
  await abp.cancel('a');
  await held;
  const all = await holding({ maxInFlightBytes: Infinity, maxMessageBytes: Infinity });
  const agent = onPort(all);
  await agent.initialize();
  assert.equal(await accepted(all, agent, { a: 'x'.repeat(8 * MB) }, 12, 'a'), 12);
});
