import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connectPort } from 'caphost/agent';
import { isShortCall, isShortResult, longResult, shortCall, shortResult, tokenOf } from '../../src/web/js/short.js';
import { newHost, plainAgent } from './host.mjs';

test('a call in its short form has all its options', () => {
  for (const [options, rest] of /** @type {[any, any[]][]} */ ([
    [{}, []],
    [{ timeout: 5 }, [5]],
    [{ transfer: true }, [undefined, 2]],
    [{ progressToken: 'c' }, [undefined, 1]],
    [{ timeout: 0, progressToken: 'c', transfer: true }, [0, 3]],
  ])) {
    const short = shortCall(7, { capability: 'echo', params: { a: [1] }, options: { callId: 'c', ...options } });
    assert.deepEqual(short, [1, 7, 'echo', { a: [1] }, 'c', ...rest]);
    assert.ok(isShortCall(structuredClone(short)));
    assert.equal(tokenOf(structuredClone(short)), options.progressToken);
  }
});

test('a result in its short form reads as its envelope', () => {
  const payload = { success: true, data: { a: 1 }, metadata: { duration: 1.5 } };
  const short = structuredClone(shortResult(7, { a: 1 }, 1.5));
  assert.ok(isShortResult(short));
  assert.deepEqual(longResult(short), { type: 'capabilities/call-result', id: 7, timestamp: 0, payload });
});

test('other arrays are no short messages', () => {
  for (const message of [[], ['1'], [1, '1'], [2, '1'], [3, '1', 'echo', {}, 'c'], [1, 1, 'echo', {}, 'c', 1, 0, 0]]) {
    assert.equal(isShortCall(message), false);
    assert.equal(isShortResult(message), false);
  }
});

/** Records the messages between a host and the other end of its port. */
async function watchedPort() {
  const host = await newHost();
  host.register('echo', {}, (params) => params);
  const { port1, port2 } = new MessageChannel();
  /** @type {any[]} */
  const sent = [];
  const { postMessage } = port1;
  port1.postMessage = (/** @type {any[]} */ ...args) => {
    sent.push(args[0]);
    Reflect.apply(postMessage, port1, args);
  };
  /** @type {any[]} */
  const heard = [];
  port1.addEventListener('message', ({ data }) => heard.push(data));
  host.acceptPort(port1);
  after(() => [port1, port2].forEach((port) => port.close()));
  return { port: port2, sent, heard };
}

test('two ends of this package use short messages, once both have announced it', async () => {
  const { port, sent, heard } = await watchedPort();
  const agent = await connectPort(port);
  const response = await agent.call('echo', { a: 1 }, { callId: 'c' });
  assert.deepEqual({ ...response, metadata: undefined }, { success: true, data: { a: 1 }, metadata: undefined });
  assert.equal(typeof response.metadata?.duration, 'number');
  assert.deepEqual(heard.at(-1), [1, 1, 'echo', { a: 1 }, 'c']);
  assert.deepEqual(sent.at(-1).slice(0, 3), [2, 1, { a: 1 }]);
  assert.equal((await agent.call('nothing')).error?.code, 'UNKNOWN_CAPABILITY');
  assert.equal(sent.at(-1).type, 'capabilities/call-result');
  await agent.shutdown();
});

test('a plain agent is answered in envelopes, and its arrays are no messages', async () => {
  const { port, sent } = await watchedPort();
  const agent = plainAgent((message) => port.postMessage(message));
  port.addEventListener('message', ({ data }) => agent.receive(data));
  port.start();
  port.postMessage({ type: 'initialize', id: 'i', timestamp: 1, payload: { agent: { name: 'a', version: '1' }, protocolVersion: '0.1' } });
  port.postMessage({ type: 'capabilities/call', id: '1', timestamp: 1, payload: { capability: 'echo', params: {} } });
  port.postMessage([1, '2', 'echo', {}, 'c']);
  port.postMessage({ type: 'capabilities/call', id: '3', timestamp: 1, payload: { capability: 'echo', params: {} } });
  while (!sent.some(({ id }) => id === '3')) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(sent.every((it) => !Array.isArray(it)));
  assert.equal(sent.find(({ type }) => type === 'initialize-result').payload.short, undefined);
  assert.ok(!sent.some(({ id }) => id === '2'));
});

test('invalid flags are ignored, and the host continues', async () => {
  const { port, sent } = await watchedPort();
  const agent = await connectPort(port);
  for (const [at, flags] of [1n, 'x', {}, null].entries()) port.postMessage([1, `stray ${at}`, 'echo', { at }, `stray ${at}`, undefined, flags]);
  assert.equal((await agent.call('echo', { a: 1 })).success, true);
  assert.deepEqual(sent.filter(Array.isArray).map(([, id]) => id), ['stray 0', 'stray 1', 'stray 2', 'stray 3', 1]);
  await agent.shutdown();
});

test('a short call after the end of its session gets this answer under its id', async () => {
  const { port, sent } = await watchedPort();
  const agent = await connectPort(port);
  await agent.shutdown();
  port.postMessage([1, 'late', 'echo', {}, 'late']);
  while (!sent.some(({ id }) => id === 'late')) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(sent.find(({ id }) => id === 'late').payload.error.code, 'NOT_INITIALIZED');
});

test('an agent that speaks JSON-RPC gets no short messages, whatever else its port carries', async () => {
  const { port, sent } = await watchedPort();
  const call = (/** @type {number} */ id) => port.postMessage({ jsonrpc: '2.0', id, method: '_capabilities/call', params: { capability: 'echo', params: { id } } });
  const answered = (/** @type {number} */ id) => sent.find((message) => message.id === id)?.result?.data;
  const waited = async (/** @type {() => unknown} */ met) => {
    for (let looks = 0; looks < 200 && met() === undefined; looks += 1) await new Promise((resolve) => setTimeout(resolve, 10));
    return met();
  };
  call(1);
  assert.deepEqual(await waited(() => answered(1)), { id: 1 });
  port.postMessage({ type: 'initialize', id: 'other', payload: { short: 2 } });
  call(2);
  assert.deepEqual(await waited(() => answered(2)), { id: 2 });
});
