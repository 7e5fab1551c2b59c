import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { connectPort, inPage, newHost } from './host.mjs';

/** @returns {Promise<void>} a turn of the event loop */
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a call with a signal that has fired does not affect an existing call with its callId', async () => {
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

test('a handler\'s call with a signal that has fired does not affect an existing call either', async () => {
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
  // The validator is loaded from here on.
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

test('a handler that was told, and returns an unsendable value, has returned', async () => {
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

test('a call of a handler that must stop is cancelled before its start, and its cancel says so; a call of an ended handler is refused', async () => {
  const host = await newHost();
  /** @type {import('caphost').CallContext[]} */
  const contexts = [];
  host.register('hold', {}, (_, context) => new Promise((_, reject) => {
    contexts.push(context);
    context.signal.addEventListener('abort', () => setTimeout(reject));
  }));
  const abp = await inPage(host);
  const calls = ['over', 'stops'].map((callId) => abp.call('hold', {}, { callId }));
  await turn();
  await abp.cancel('over');
  const cancel = abp.cancel('stops');
  const late = contexts.map(({ call, callId }) => call('hold', {}, { callId: `${callId}: late` }));
  const never = { cancelled: true, metadata: { stop: 'never-started' } };
  assert.equal((await late[0])?.error?.code, 'PRECONDITION_FAILED');
  assert.deepEqual(await late[1], { success: false, ...never });
  assert.deepEqual(await abp.cancel('over: late'), { callId: 'over: late', cancelled: false, reason: 'Operation not found' });
  assert.deepEqual(await abp.cancel('stops: late'), { callId: 'stops: late', ...never });
  assert.equal((await abp.call('hold', {}, { callId: 'stops: late' })).error?.code, 'INVALID_PARAMS');
  assert.equal((await cancel).metadata?.stop, 'returned');
  await Promise.all(calls);
  assert.equal(contexts.length, 2);
});

/** The ways to call: from the page, over a port and from a handler. @param {import('caphost').Host} host @returns {Promise<any[]>} */
async function callers(host) {
  /** @type {any[]} */
  let given;
  host.register('pass on', {}, (_, { call }) => /** @type {any} */ (call)(...given));
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const abp = await inPage(host);
  /** @param {any[]} it */
  const inHandler = async (...it) => {
    given = it;
    return (await abp.call('pass on')).data;
  };
  const agent = await connectPort(/** @type {any} */ (port2));
  return [abp.call, agent.call.bind(agent), inHandler];
}

test('a signal that cannot be listened to, and options that cannot be read, refuse the call', async () => {
  const host = await newHost();
  host.register('run', {}, () => 1);
  const unreadable = { get signal() { throw new Error('no'); } };
  for (const call of await callers(host)) {
    for (const options of [{ signal: Object.create(AbortSignal.prototype) }, { signal: {} }, { signal: 5 }]) {
      assert.equal((await call('run', {}, options)).error?.code, 'INVALID_PARAMS');
    }
    assert.deepEqual([(await call('run', {}, { signal: null })).success, (await call('run', {}, unreadable)).cancelled], [true, undefined]);
  }
  assert.equal(host.stats().inFlight, 0);
});

test('a handler gets the reason: a text, or the message of an Error of any realm', async () => {
  const host = await newHost();
  /** @type {() => void} */
  let running = () => {};
  /** @type {string[]} */
  const told = [];
  host.register('hold', {}, (_, { signal }) => new Promise((_, reject) => {
    running();
    signal.addEventListener('abort', () => {
      told.push(signal.reason.message);
      reject(signal.reason);
    });
  }));
  const unreadable = { get [Symbol.toStringTag]() { throw new Error('no'); } };
  const given = ['a text', new Error('an error'), new DOMException('the user left', 'AbortError'), runInNewContext('new RangeError("of another realm")')];
  const none = [undefined, null, 5, { message: 'no error' }, Object.assign(new Error(), { message: 7 }), unreadable];
  for (const call of await callers(host)) {
    for (const reason of [...given, ...none]) {
      const controller = new AbortController();
      const begun = new Promise((resolve) => (running = () => resolve(undefined)));
      const held = call('hold', {}, { signal: controller.signal });
      await begun;
      controller.abort(reason);
      assert.equal((await held).cancelled, true);
    }
    const nobodys = none.map(() => 'The call was cancelled');
    assert.deepEqual(told.splice(0), ['a text', 'an error', 'the user left', 'of another realm', ...nobodys]);
  }
});
