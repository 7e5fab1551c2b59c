import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CapHostError, createHost } from 'caphost';
import { CapHostError as AgentsError, connect, connectPort } from 'caphost/agent';
import { newHost } from './host.mjs';

/** A host with capabilities, and an agent on it. */
async function pair() {
  const host = await newHost();
  host.register('double', {}, ({ n }) => ({ doubled: 2 * n }));
  host.register('fail', {}, () => {
    throw Object.assign(new Error('No paper'), { code: 'NO_PAPER', retryable: true, details: { tray: 2 } });
  });
  let begin = () => {};
  host.register('wait', {}, (_, { signal }) => new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    begin();
  }));
  /** Resolves when the next call of `wait` begins. @returns {Promise<void>} */
  const waits = () => new Promise((resolve) => (begin = resolve));
  host.register('steps', {}, async ({ to, fails }, { progress }) => {
    for (let n = 1; n <= to; n += 1) {
      progress({ progress: n, total: to });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    if (fails) throw new Error('It broke');
    return to;
  });
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  after(() => port1.close());
  const agent = await connectPort(port2);
  return { host, agent, waits };
}

test('invoke returns the data, or throws the error', async () => {
  const { agent } = await pair();
  assert.deepEqual(await agent.invoke('double', { n: 21 }), { doubled: 42 });
  assert.equal(AgentsError, CapHostError);
  await assert.rejects(agent.invoke('fail'), (error) => {
    assert.ok(error instanceof CapHostError && error instanceof Error);
    const { name, message, code, retryable, details } = error;
    assert.deepEqual({ name, message, code, retryable, details }, { name: 'CapHostError', message: 'No paper', code: 'NO_PAPER', retryable: true, details: { tray: 2 } });
    assert.equal(String(error), 'CapHostError: No paper');
    return true;
  });
  await assert.rejects(agent.invoke('nothing'), { name: 'CapHostError', code: 'UNKNOWN_CAPABILITY', retryable: false });
  await agent.shutdown();
  await assert.rejects(agent.invoke('double', { n: 1 }), (error) => error instanceof CapHostError);
});

test('capabilities are methods by the parts of their names, with the options of a call', async () => {
  const { host, agent } = await pair();
  host.register('text.words', {}, ({ text }) => ({ words: text.split(' ').length }));
  host.register('text', {}, () => 'all');
  const api = agent.as();
  assert.deepEqual(await api.text.words({ text: 'one two' }), { words: 2 });
  assert.equal(await api.text(), 'all');
  assert.deepEqual(await api.double({ n: 2 }, { timeout: 5_000 }), { doubled: 4 });
  await assert.rejects(api.fail(), { name: 'CapHostError', code: 'NO_PAPER' });
  await assert.rejects(api.wait({}, { signal: AbortSignal.abort() }), { name: 'AbortError' });
  await assert.rejects(api.text.word(), { code: 'UNKNOWN_CAPABILITY' });
  // Neither is taken for a promise.
  assert.equal(await api, api);
  assert.equal(typeof (await api.text).words, 'function');
});

test('invoke throws an AbortError for a cancelled call, with how far it was seen to stop', async () => {
  const { agent, waits } = await pair();
  const controller = new AbortController();
  const begun = waits();
  const stopped = agent.invoke('wait', {}, { signal: controller.signal, callId: 'mine' });
  await begun;
  controller.abort('not needed');
  await assert.rejects(stopped, { name: 'AbortError', callId: 'mine', stop: 'returned', reason: 'not needed' });

  await assert.rejects(agent.invoke('double', { n: 1 }, { signal: AbortSignal.abort() }), (error) => {
    assert.ok(error instanceof DOMException);
    assert.equal(/** @type {any} */ (error).stop, 'never-started');
    assert.equal(/** @type {any} */ (error).reason.name, 'AbortError');
    return true;
  });

  const either = AbortSignal.any([AbortSignal.timeout(20), new AbortController().signal]);
  await assert.rejects(agent.invoke('wait', {}, { signal: either }), (error) => {
    assert.equal(/** @type {any} */ (error).name, 'AbortError');
    assert.equal(/** @type {any} */ (error).reason.name, 'TimeoutError');
    return true;
  });

  // Cancelled by its own timeout, and by another party.
  await assert.rejects(agent.invoke('wait', {}, { timeout: 20 }), { name: 'AbortError', reason: undefined, stop: 'returned' });
  const other = agent.invoke('wait', {}, { callId: 'other' });
  const told = assert.rejects(other, { name: 'AbortError', reason: undefined });
  assert.equal((await agent.cancel('other')).cancelled, true);
  await told;
  await agent.shutdown();
});

test('the progress of a call can be iterated over', async () => {
  const { agent, waits } = await pair();
  const seen = [];
  const call = agent.start('steps', { to: 4 });
  for await (const { operationId, progress, percentage } of call) {
    assert.equal(operationId, call.callId);
    seen.push([progress, percentage]);
  }
  assert.deepEqual(seen, [[1, 25], [2, 50], [3, 75], [4, 100]]);
  assert.equal(await call.result, 4);

  // The same call has two readers, one of them slow, and a callback.
  /** @type {number[]} */
  const all = [];
  const shared = agent.start('steps', { to: 3 }, { onProgress: ({ progress }) => all.push(progress), callId: 'shared' });
  const slow = [];
  for await (const { progress } of shared) {
    slow.push(progress);
    // The second and third updates arrive while the reader handles the first.
    while (all.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.deepEqual(all, [1, 2, 3]);
  assert.deepEqual(slow, [1, 3]);
  assert.equal(await shared.result, 3);

  const failing = agent.start('steps', { to: 1, fails: true });
  await assert.rejects(async () => {
    for await (const _ of failing);
  }, { code: 'OPERATION_FAILED', message: 'It broke' });
  await assert.rejects(failing.result, { message: 'It broke' });

  const begun = waits();
  const long = agent.start('wait', {}, { callId: 'long' });
  void begun.then(() => long.cancel('enough'));
  await assert.rejects(async () => {
    for await (const _ of long);
  }, { name: 'AbortError', callId: 'long', stop: 'returned' });
  await agent.shutdown();
});

test('a call whose progress alone is followed leaves no unhandled rejection', async (t) => {
  const { agent } = await pair();
  const unhandled = t.mock.fn();
  process.on('unhandledRejection', unhandled);
  t.after(() => process.off('unhandledRejection', unhandled));
  await assert.rejects(async () => {
    for await (const _ of agent.start('fail'));
  }, { code: 'NO_PAPER' });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(unhandled.mock.callCount(), 0);
  await agent.shutdown();
});

test('agents and hosts close with the block that disposes of them', async () => {
  const host = await createHost({ app: { id: 'app', name: 'App', version: '1' } });
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  after(() => port1.close());
  const agent = await connectPort(port2);
  const asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');
  await /** @type {any} */ (agent)[asyncDispose]();
  assert.equal(await agent.closed, 'shutdown');
  await /** @type {any} */ (host)[asyncDispose]();
  assert.throws(() => host.register('late', {}, () => 1), { message: 'The host is closed' });
});

test('an agent lists what the app offers, with descriptions and schemas', async () => {
  const { host, agent } = await pair();
  const inputSchema = { type: 'object', properties: { n: { type: 'number' } } };
  host.register('half', { description: 'Halves', inputSchema, experimental: true }, ({ n }) => n / 2);
  const list = await agent.listCapabilities();
  assert.deepEqual(list.map(({ name }) => name), ['double', 'fail', 'half', 'steps', 'wait']);
  assert.deepEqual(list, host.documents().map((it) => ({ ...it })));
  assert.deepEqual(await agent.describeCapability('half'), {
    name: 'half', description: 'Halves', inputSchema, outputSchema: {}, available: true, requirements: [], features: {}, experimental: true,
  });
  assert.equal(await agent.describeCapability('third'), null);
  const interrupted = assert.rejects(agent.listCapabilities(), { name: 'CapHostError', code: 'DISCONNECTED' });
  host.close();
  await interrupted.catch(() => {});
  await agent.closed;
  await assert.rejects(agent.listCapabilities(), { name: 'CapHostError', code: 'DISCONNECTED' });
});

test('an agent that has shut its session down lists nothing', async () => {
  const { agent } = await pair();
  const asked = agent.listCapabilities();
  await agent.shutdown();
  // The app received the request before it received the end of the session.
  assert.equal((await asked).length, 4);
  await assert.rejects(agent.listCapabilities(), { name: 'CapHostError', code: 'NOT_INITIALIZED' });
});

test('an agent waits for the list of capabilities no longer than the grace', async () => {
  /** @type {any} */
  const messenger = {
    close() {},
    /** @param {any} envelope */
    post({ type, id }) {
      const payload = { sessionId: 's', protocolVersion: '0.1', app: { id: 'a', name: 'A', version: '1' }, capabilities: [{ name: 'x', available: true }], features: {} };
      if (type === 'initialize') queueMicrotask(() => messenger.onmessage({ type: 'initialize-result', id, payload }));
      else if (type === 'capabilities/list' && refuse) queueMicrotask(() => messenger.onmessage({ type: 'error', id, payload: { success: false, error: { code: 'NOT_IMPLEMENTED', message: 'What?', retryable: false } } }));
      else if (type === 'capabilities/list' && odd) queueMicrotask(() => messenger.onmessage({ type: 'capabilities/list-result', id, payload: { capabilities: odd } }));
    },
  };
  let refuse = false;
  /** @type {unknown} */
  let odd;
  const agent = await connect(messenger, { grace: 30 });
  await assert.rejects(agent.listCapabilities(), { name: 'CapHostError', code: 'TIMEOUT', message: 'The app has not listed its capabilities within 30 ms' });
  refuse = true;
  await assert.rejects(agent.listCapabilities(), { name: 'CapHostError', code: 'NOT_IMPLEMENTED', message: 'What?' });
  refuse = false;
  // The last value has 4 billion elements, too many to check.
  for (odd of [[7], 'x', {}, new Array(2 ** 32 - 1)]) {
    const began = performance.now();
    await assert.rejects(agent.describeCapability('x'), { code: 'TRANSPORT_ERROR' });
    assert.ok(performance.now() - began < 2_000);
  }
  messenger.onclose();
  await agent.closed;
});

test('the single file with the wasm inside serves hosts and agents alike', async (t) => {
  const inline = await import('caphost/inline');
  const host = await inline.createHost({ app: { id: 'inline', name: 'Inline', version: '1' } });
  host.register('double', { inputSchema: { type: 'object', required: ['n'] } }, ({ n }) => 2 * n);
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  host.acceptPort(port1);
  const agent = await inline.connectPort(port2);
  assert.equal(await agent.invoke('double', { n: 21 }), 42);
  await assert.rejects(agent.invoke('double'), (error) => error instanceof inline.CapHostError && error.code === 'MISSING_PARAM');
  host.close();
});

test('unknown options of an agent are reported, each name once', async (t) => {
  const warned = t.mock.method(console, 'warn', () => {});
  const host = await newHost();
  host.register('double', {}, ({ n }) => 2 * n);
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  after(() => port1.close());
  const agent = await connectPort(port2, /** @type {any} */ ({ conectTimeout: 5, grace: 100, onNotification: () => {} }));
  for (let round = 0; round < 2; round += 1) {
    assert.equal(await agent.invoke('double', { n: 1 }, /** @type {any} */ ({ timout: 5, timeout: 5000, signal: new AbortController().signal })), 2);
  }
  for await (const _ of agent.start('double', { n: 2 }, { callId: 'mine' }));
  const told = warned.mock.calls.map(({ arguments: [text] }) => String(text).split('. ')[0]);
  assert.deepEqual(told, ['caphost: connect: unknown option "conectTimeout"', 'caphost: call: unknown option "timout"']);
});
