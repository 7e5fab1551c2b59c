import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inPage, newHost } from './host.mjs';

/** @returns {Promise<void>} a turn of the event loop */
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a signal that has fired leaves a call alone that has the callId already', async () => {
  const host = await newHost();
  let running = 0;
  host.register('hold', {}, (_, { signal }) => {
    running += 1;
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  });
  const abp = await inPage(host);
  const first = abp.call('hold', {}, { callId: 'a' });
  await turn();
  const second = await abp.call('hold', {}, { callId: 'a', signal: AbortSignal.abort() });
  assert.equal(second.error?.code, 'INVALID_PARAMS');
  assert.equal(host.stats().inFlight, 1);
  assert.equal((await abp.cancel('a')).cancelled, true);
  assert.equal((await first).cancelled, true);
  assert.equal(running, 1);
});

test('the same of a call that a handler makes', async () => {
  const host = await newHost();
  host.register('hold', {}, (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
  host.register('twice', {}, async (_, { call }) => {
    const first = call('hold', {}, { callId: 'child' });
    const second = await call('hold', {}, { callId: 'child', signal: AbortSignal.abort() });
    const fresh = await call('hold', {}, { callId: 'fresh', signal: AbortSignal.abort('why') });
    const inFlight = host.stats().inFlight;
    void first;
    return { second: second.error?.code, fresh: fresh.metadata, inFlight };
  });
  const abp = await inPage(host);
  const { data } = /** @type {any} */ (await abp.call('twice'));
  assert.deepEqual(data, { second: 'INVALID_PARAMS', fresh: { stop: 'never-started' }, inFlight: 2 });
});

test('a signal that has fired cancels a call before its parameters are looked at', async () => {
  const host = await newHost();
  let asked = 0;
  host.register('picky', { inputSchema: { type: 'object', required: ['a'] } }, () => void (asked += 1));
  const abp = await inPage(host);
  // The validator is loaded by now.
  assert.equal((await abp.call('picky', {})).error?.code, 'MISSING_PARAM');
  const response = await abp.call('picky', {}, { callId: 'never', signal: AbortSignal.abort() });
  assert.deepEqual(response, { success: false, cancelled: true, metadata: { stop: 'never-started' } });
  assert.deepEqual(await abp.cancel('never'), { callId: 'never', cancelled: true, metadata: { stop: 'never-started' } });
  assert.equal(asked, 0);
});

test('a handler that was never told and has done its work has not been cancelled, although its data cannot be sent', async () => {
  const host = await newHost();
  /** @type {(data: unknown) => void} */
  let finish = () => {};
  host.register('work', {}, () => new Promise((resolve) => (finish = resolve)));
  const abp = await inPage(host);
  const call = abp.call('work', {}, { callId: 'a' });
  await turn();
  const cancel = abp.cancel('a');
  finish(() => 'a function');
  assert.equal((await call).error?.code, 'OPERATION_FAILED');
  const { cancelled, reason } = await cancel;
  assert.deepEqual([cancelled, reason], [false, 'Operation already completed']);
});

test('one that was told, and returns what cannot be sent, has returned', async () => {
  const host = await newHost();
  /** @type {(data: unknown) => void} */
  let finish = () => {};
  host.register('work', {}, (_, { signal }) => new Promise((resolve) => {
    signal.addEventListener('abort', () => {});
    finish = resolve;
  }));
  const abp = await inPage(host);
  const call = abp.call('work', {}, { callId: 'a' });
  await turn();
  const cancel = abp.cancel('a');
  finish(() => 'a function');
  assert.deepEqual(await call, { success: false, cancelled: true, metadata: { stop: 'returned' } });
  assert.equal((await cancel).cancelled, true);
});
