import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { connectPort } from 'caphost/agent';
import { serveEnvelopes } from '../fixtures/plain-app/app.js';
import { abandoned, codeOf, confirmed, neverStarted, settled } from './pages.mjs';

/**
 * A plain app behind a port, and the other end of the port.
 *
 * @param {import('node:test').TestContext} t
 * @param {import('../fixtures/plain-app/app.js').Faults} [faults]
 */
function plainApp(t, faults = {}) {
  const { port1, port2 } = new MessageChannel();
  t.after(() => { port1.close(); });
  const { app, receive } = serveEnvelopes(faults, (envelope) => port1.postMessage(envelope));
  /** @type {any[]} */
  const envelopes = [];
  port1.onmessage = ({ data }) => {
    envelopes.push(data);
    void receive(data);
  };
  const ofType = (/** @type {string} */ type) => envelopes.filter((it) => it.type === type);
  return { app, port: port2, appPort: port1, envelopes, ofType };
}

describe('connectPort() to a plain ABP app', () => {
  test('opens a session, calls, cancels and shuts down, in the plain envelope', async (t) => {
    const { app, port, envelopes } = plainApp(t);
    const agent = await connectPort(port, { agent: { name: 'tester', version: '7' } });
    assert.equal(agent.sessionId, app.sessionId);
    assert.deepEqual((await agent.call('echo', { a: 1 }, { callId: 'one', timeout: 5000 })).data, { a: 1 });
    const held = agent.call('hold', undefined, { callId: 'two', onProgress() {} });
    await settled(agent);
    assert.deepEqual(await agent.cancel('two', 'why not'), confirmed('two', 'abandoned'));
    assert.deepEqual(await held, abandoned);
    await agent.shutdown({ reason: 'done' });
    assert.deepEqual(envelopes.map(({ type }) => type), ['initialize', 'capabilities/call', 'capabilities/call', 'capabilities/call', 'capabilities/cancel', 'shutdown']);
    for (const { id, timestamp } of envelopes) {
      assert.equal(typeof id, 'string');
      assert.ok(Math.abs(timestamp - Date.now()) < 60_000);
    }
    const payloads = envelopes.map(({ payload }) => payload);
    assert.deepEqual(payloads[0], { agent: { name: 'tester', version: '7' }, protocolVersion: '0.1', features: { notifications: true, progress: true, elicitation: false }, life: {}, short: 2 });
    assert.deepEqual(payloads[1], { capability: 'echo', params: { a: 1 }, options: { callId: 'one', timeout: 5000 } });
    assert.deepEqual(payloads[2], { capability: 'hold', params: {}, options: { callId: 'two', progressToken: 'two' } });
    assert.match(payloads[3].options.callId, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.deepEqual(payloads[4], { callId: 'two', reason: 'why not' });
    assert.deepEqual(payloads[5], { reason: 'done' });
    assert.equal(app.sessionId, null);
  });

  test('progress, notifications and questions', async (t) => {
    const { port, appPort } = plainApp(t);
    /** @type {unknown[]} */
    const told = [];
    /** @type {() => void} */
    let gone = () => {};
    const withdrawn = new Promise((resolve) => { gone = () => resolve(undefined); });
    const agent = await connectPort(port, {
      onNotification: (event, data) => told.push([event, data]),
      onElicitation: async ({ message }, { signal }) => {
        if (message !== 'wait') return { success: true, data: message };
        await once(signal, 'abort');
        gone();
        return 'too late';
      },
    });
    assert.deepEqual((await agent.call('ask', { message: 'Sure?' })).data, { success: true, data: 'Sure?' });
    await agent.call('announce', { n: 1 });
    /** @type {any[]} */
    const progress = [];
    const stop = new AbortController();
    const held = agent.call('hold', {}, { signal: stop.signal, callId: 'held', onProgress: (info) => { progress.push(info); stop.abort(); } });
    assert.deepEqual(await held, abandoned);
    appPort.postMessage({ type: 'progress', timestamp: 0, payload: { operationId: 'held', progress: 2 } });
    void agent.call('ask', { message: 'wait' });
    await settled(agent);
    appPort.postMessage({ type: 'notification', timestamp: 0, payload: { event: 'notifications/elicitation/withdrawn', data: { id: 'question-1' } } });
    await withdrawn;
    appPort.postMessage({ type: 'notification', timestamp: 0, payload: { event: 'notifications/capabilities/list_changed', data: { added: ['new'], removed: ['fail'], changed: [] } } });
    await settled(agent);
    assert.deepEqual(agent.capabilities.map(({ name }) => name), ['echo', 'hold', 'bytes', 'ask', 'announce', 'new']);
    assert.equal(progress.length, 1);
    assert.deepEqual(told.map((it) => /** @type {any} */ (it)[0]), ['app/announced', 'notifications/capabilities/list_changed']);
  });

  test('a callback that throws disturbs nothing', async (t) => {
    const { port } = plainApp(t);
    t.mock.method(console, 'error', () => {});
    const agent = await connectPort(port, {
      onNotification: () => { throw new Error('mine'); },
      onElicitation: () => { throw Object.assign(new Error('mine too'), { code: 'PERMISSION_DENIED' }); },
    });
    assert.equal((await agent.call('announce', {})).success, true);
    assert.equal((await agent.call('ask', {})).data.error.code, 'PERMISSION_DENIED');
    const stop = new AbortController();
    const held = agent.call('hold', {}, { signal: stop.signal, onProgress: () => { stop.abort(); throw new Error('again'); } });
    assert.deepEqual(await held, abandoned);
  });

  test('data is moved when the caller asks for it', async (t) => {
    const { port, ofType } = plainApp(t);
    const agent = await connectPort(port);
    const { buffer } = Uint8Array.of(1, 2, 3);
    const { data } = await agent.call('bytes', { bytes: buffer, nested: [{ buffer }] }, { transfer: [buffer] });
    assert.equal(buffer.byteLength, 0);
    assert.deepEqual(new Uint8Array(data.bytes), Uint8Array.of(2, 3, 4));
    const { params, options } = ofType('capabilities/call')[0].payload;
    assert.equal(params.nested[0].buffer, params.bytes);
    assert.equal(options.transfer, true);
    const copied = Uint8Array.of(1).buffer;
    await agent.call('bytes', { bytes: copied });
    assert.equal(copied.byteLength, 1);
    // A call that was aborted in advance does not even move its buffers.
    const kept = Uint8Array.of(1).buffer;
    assert.deepEqual(await agent.call('bytes', { bytes: kept }, { transfer: [kept], signal: AbortSignal.abort() }), neverStarted);
    assert.equal(kept.byteLength, 1);
    const twice = Uint8Array.of(1).buffer;
    assert.equal(codeOf(await agent.call('bytes', { bytes: twice }, { transfer: [twice, twice] })), 'INVALID_PARAMS');
  });

  test('strange messages are ignored', async (t) => {
    const { port, appPort } = plainApp(t);
    const agent = await connectPort(port);
    const held = agent.call('hold', {}, { callId: 'held' });
    for (const strange of [null, 7, 'text', [], {}, { type: 7 }, { type: 'capabilities/call-result' }, { type: 'capabilities/call-result', id: 'x', payload: { success: true } },
      { type: 'capabilities/cancel-result', id: '999', payload: null }, { type: 'notification', payload: {} }, { type: 'progress', payload: { operationId: {} } },
      { type: 'initialize-result', id: '1', payload: {} }, { type: 'unheard of', id: '1', payload: {} }]) {
      appPort.postMessage(strange);
    }
    await settled(agent);
    assert.deepEqual(await agent.cancel('held'), confirmed('held', 'abandoned'));
    assert.deepEqual(await held, abandoned);
  });

  test('an answer that is no valid response, and a refused message', async (t) => {
    const { port1, port2 } = new MessageChannel();
    t.after(() => port1.close());
    const answers = [undefined, null, 'done', {}, { data: 1 }];
    port1.onmessage = ({ data: { type, id } }) => {
      if (type === 'initialize') port1.postMessage({ type: 'initialize-result', id, payload: { sessionId: 's' } });
      else if (answers.length > 0) port1.postMessage({ type: 'capabilities/call-result', id, payload: answers.shift() });
      else port1.postMessage({ type: 'error', id, payload: { success: false, error: { code: 'RATE_LIMITED', message: 'Slower', retryable: true, retryAfter: 5 } } });
    };
    const agent = await connectPort(port2);
    for (let left = answers.length; left > 0; left -= 1) assert.equal(codeOf(await agent.call('x')), 'TRANSPORT_ERROR');
    assert.equal((await agent.call('x')).error?.retryAfter, 5);
  });

  test('an app that says both success and cancelled has completed the call', async (t) => {
    const { port1, port2 } = new MessageChannel();
    t.after(() => port1.close());
    port1.onmessage = ({ data: { type, id, payload } }) => {
      if (type === 'initialize') port1.postMessage({ type: 'initialize-result', id, payload: { sessionId: 's' } });
      else if (type === 'capabilities/call') port1.postMessage({ type: `${type}-result`, id, payload: { success: true, data: 1, cancelled: true } });
      else port1.postMessage({ type: `${type}-result`, id, payload: { callId: payload.callId, cancelled: true } });
    };
    const agent = await connectPort(port2);
    assert.deepEqual(await agent.call('x', {}, { callId: 'x' }), { success: true, data: 1, cancelled: false });
    assert.deepEqual(await agent.cancel('x'), { callId: 'x', cancelled: false, reason: 'Operation already completed' });
  });

  test('a closed port settles what is pending, and what comes later', async (t) => {
    const { port, appPort } = plainApp(t, { cancel: 'never' });
    const agent = await connectPort(port);
    const held = agent.call('hold', {}, { callId: 'held' });
    await settled(agent);
    const cancel = agent.cancel('held');
    appPort.close();
    assert.equal(codeOf(await held), 'DISCONNECTED');
    assert.equal(codeOf(await cancel), 'DISCONNECTED');
    assert.equal(await agent.closed, 'disconnected');
    assert.equal(codeOf(await agent.call('echo')), 'DISCONNECTED');
    await agent.shutdown();
  });

  test('a host that reports its end has ended', async (t) => {
    const { port, appPort } = plainApp(t);
    const agent = await connectPort(port);
    const held = agent.call('hold');
    await settled(agent);
    appPort.postMessage({ type: 'notification', timestamp: 0, payload: { event: 'notifications/host/closed' } });
    assert.equal(codeOf(await held), 'DISCONNECTED');
  });

  test('a peer that falls silent is noticed while a call is pending', async (t) => {
    const { port, appPort } = plainApp(t);
    const agent = await connectPort(port, { liveness: 600 });
    const held = agent.call('hold');
    await settled(agent);
    // The first sign of life. Silence after it is meaningful.
    await once(appPort, 'message');
    appPort.onmessage = null;
    assert.equal(codeOf(await held), 'DISCONNECTED');
  });

  test('an initialize that is refused, answered with nonsense, or not answered', async (t) => {
    const { port } = plainApp(t);
    await connectPort(port);
    await assert.rejects(connectPort(port), { code: 'ALREADY_INITIALIZED', retryable: false });
    const { port1, port2 } = new MessageChannel();
    t.after(() => port1.close());
    await assert.rejects(connectPort(port2, { connectTimeout: 30 }), { code: 'TIMEOUT', retryable: true });
    const [asked] = await once(port1, 'message');
    assert.equal(asked.type, 'initialize');
    port1.onmessage = ({ data: { id } }) => port1.postMessage({ type: 'initialize-result', id, payload: null });
    await assert.rejects(connectPort(port2), { code: 'TRANSPORT_ERROR' });
    await assert.rejects(connectPort(/** @type {any} */ ({})), { code: 'INVALID_PARAMS' });
    await assert.rejects(connectPort(port2, { agent: /** @type {any} */ ({ name: () => {} }) }), { code: 'INVALID_PARAMS' });
  });

  test('the port can be used again after a shutdown', async (t) => {
    const { port } = plainApp(t);
    await (await connectPort(port)).shutdown();
    assert.deepEqual((await (await connectPort(port)).call('echo', { a: 1 })).data, { a: 1 });
  });

  test("an extension's port", async () => {
    /** @returns {any} an object like chrome.runtime.Port */
    const end = () => {
      const event = () => {
        const listeners = new Set();
        return { listeners, addListener: (/** @type {any} */ it) => listeners.add(it), removeListener: (/** @type {any} */ it) => listeners.delete(it) };
      };
      return { onMessage: event(), onDisconnect: event() };
    };
    const [mine, theirs] = [end(), end()];
    const join = (/** @type {any} */ from, /** @type {any} */ to) => {
      from.postMessage = (/** @type {unknown} */ message) => {
        const copy = JSON.parse(JSON.stringify(message));
        queueMicrotask(() => { for (const listener of to.onMessage.listeners) listener(copy); });
      };
    };
    join(mine, theirs);
    join(theirs, mine);
    const { receive } = serveEnvelopes({}, (envelope) => theirs.postMessage(envelope));
    theirs.onMessage.addListener(receive);
    const agent = await connectPort(mine);
    assert.deepEqual((await agent.call('echo', { a: 1 })).data, { a: 1 });
    const held = agent.call('hold');
    await settled(agent);
    for (const listener of mine.onDisconnect.listeners) listener();
    assert.equal(codeOf(await held), 'DISCONNECTED');
    assert.deepEqual([mine.onMessage.listeners.size, mine.onDisconnect.listeners.size], [0, 0]);
  });

  test('nothing is left of a thousand calls', async (t) => {
    const { port, app } = plainApp(t);
    const agent = await connectPort(port);
    const { signal } = new AbortController();
    let listeners = 0;
    t.mock.method(signal, 'addEventListener', function count(/** @type {any[]} */ ...args) { listeners += 1; return EventTarget.prototype.addEventListener.apply(signal, /** @type {any} */ (args)); });
    t.mock.method(signal, 'removeEventListener', function count(/** @type {any[]} */ ...args) { listeners -= 1; return EventTarget.prototype.removeEventListener.apply(signal, /** @type {any} */ (args)); });
    const answers = [];
    for (let number = 0; number < 1000; number += 1) {
      const callId = `call ${number}`;
      const call = agent.call(number % 2 ? 'hold' : 'echo', {}, { signal, callId, timeout: 60_000 });
      answers.push(settled(agent).then(() => Promise.all([call, number % 2 ? agent.cancel(callId) : undefined])));
    }
    for (const [response, answer] of await Promise.all(answers)) {
      assert.equal(response.cancelled ?? false, answer?.cancelled ?? false);
    }
    assert.equal(listeners, 0);
    await agent.shutdown();
    assert.equal(app.log.filter((it) => it.startsWith('call')).length, app.log.filter((it) => it.startsWith('end')).length);
  });
});
