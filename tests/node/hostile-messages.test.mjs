import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from 'caphost/agent';
import { inPage, newHost } from './host.mjs';

const AGENT = { name: 'a', version: '1' };
const WAYS = /** @type {const} */ (['get', 'has', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor']);

/** Thrown by a proxy. Nobody else throws it. */
class Hostile extends Error {}

/**
 * A proxy that throws when it is read in that way for the `nth` time, or always from then on.
 *
 * @param {object} target @param {string} way @param {number} nth
 */
function hostile(target, way, nth) {
  let asked = 0;
  return new Proxy(target, {
    [way]: (/** @type {any[]} */ ...args) => {
      asked += 1;
      if (asked >= nth) throw new Hostile(`${way} ${nth}`);
      return /** @type {any} */ (Reflect)[way](...args);
    },
  });
}

/** @param {object} target */
function revoked(target) {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** A value that cannot be read, in each place of a message. @param {any} message @param {(it: any) => any} make @returns {any[]} */
const places = (message, make) => [
  make(message),
  ...Object.keys(message).filter((key) => typeof message[key] === 'object').flatMap((key) => places(message[key], make).map((it) => Array.isArray(message) ? [it] : { ...message, [key]: it })),
  ...(Array.isArray(message) ? [] : [make([message])]),
];

/** @param {any} message @returns {any[]} */
const variants = (message) => [
  ...places(message, revoked),
  ...WAYS.flatMap((way) => [1, 2, 3, 4].flatMap((nth) => places(message, (it) => hostile(it, way, nth)))),
];

/** Fails if something is thrown that nobody catches. @param {import('node:test').TestContext} t */
function watch(t) {
  /** @type {unknown[]} */
  const uncaught = [];
  const add = (/** @type {unknown} */ error) => void uncaught.push(error);
  process.on('unhandledRejection', add).on('uncaughtException', add);
  t.mock.method(console, 'warn', () => {});
  t.mock.method(console, 'error', (/** @type {unknown} */ error) => error instanceof Hostile && add(error));
  t.after(() => {
    process.off('unhandledRejection', add).off('uncaughtException', add);
  });
  return async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(uncaught, []);
  };
}

/** A transport whose other end the test is. */
function transport() {
  /** @type {any[]} */
  const posted = [];
  /** @type {any} */
  const it = { posted, post: (/** @type {any} */ message) => void posted.push(message), close() {} };
  return it;
}

const INITIALIZE = { type: 'initialize', id: 'i', payload: { agent: AGENT, protocolVersion: '0.1', features: { elicitation: true } } };
const TO_HOST = {
  initialize: INITIALIZE,
  call: { type: 'capabilities/call', id: 'c', payload: { capability: 'echo', params: { deep: { er: [1] } }, options: { callId: 'x' } } },
  cancel: { type: 'capabilities/cancel', id: 'k', payload: { callId: 'x' } },
  list: { type: 'capabilities/list', id: 'l', payload: {} },
  shutdown: { type: 'shutdown', id: 's', payload: { reason: 'x' } },
  answer: { type: 'elicitation/response', id: 'elicitation-1', payload: { success: true, data: { a: 1 } } },
  refusal: { type: 'elicitation/response', id: 'elicitation-1', payload: { success: false, error: { code: 'NO', message: 'no', details: { a: 1 } } } },
  rpc: { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: AGENT } },
  tool: { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo', arguments: { a: [1] }, _meta: { progressToken: 1 } } },
  notice: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
  wrapped: { channel: 'x', type: 'mcp', direction: 'client-to-server', payload: { jsonrpc: '2.0', id: 2, method: 'ping', params: {} } },
};

for (const [what, message] of Object.entries(TO_HOST)) {
  test(`nothing that an agent hands over throws into the transport of an app: ${what}`, async (t) => {
    const quiet = watch(t);
    const host = await newHost();
    host.register('echo', {}, (params) => params);
    const first = 'jsonrpc' in message || 'channel' in message ? TO_HOST.rpc : INITIALIZE;
    for (const started of [false, true]) {
      for (const it of variants(message)) {
        const wire = transport();
        const stop = host.accept(wire);
        if (started) wire.onmessage(first);
        wire.onmessage(it);
        wire.onmessage(it);
        stop();
      }
    }
    // The code for JSON-RPC is loaded, and a client is answered after a message that cannot be read.
    const wire = transport();
    host.accept(wire);
    wire.onmessage(TO_HOST.rpc);
    wire.onmessage({ ...TO_HOST.rpc, id: 2, params: revoked({}) });
    wire.onmessage({ jsonrpc: '2.0', id: 3, method: 'ping' });
    while (wire.posted.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(wire.posted.map((/** @type {any} */ { id, error }) => [id, error?.code]).sort(), [[null, -32600], [1, undefined], [3, undefined]]);
    // A closed host answers, too.
    const late = transport();
    host.accept(late);
    host.close();
    for (const it of variants(message)) late.onmessage?.(it);
    await quiet();
  });
}

test('an agent whose call cannot be read is answered, and its next call works', async (t) => {
  const quiet = watch(t);
  const host = await newHost();
  host.register('echo', {}, (params) => params);
  const wire = transport();
  host.accept(wire);
  wire.onmessage(INITIALIZE);
  wire.onmessage({ ...TO_HOST.call, payload: { ...TO_HOST.call.payload, params: revoked({}) } });
  wire.onmessage({ ...TO_HOST.call, id: 'next', payload: { capability: 'echo', params: { a: 1 } } });
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual(wire.posted.slice(1).map((/** @type {any} */ it) => [it.id, it.payload.success, it.payload.error?.code]), [['c', false, 'INVALID_PARAMS'], ['next', true, undefined]]);
  await quiet();
});

test('a transport that throws when JSON-RPC is answered does not end the process', async (t) => {
  const host = await newHost();
  /** @type {unknown[]} */
  const said = [];
  t.mock.method(console, 'error', (/** @type {unknown} */ error) => void said.push(error));
  const wire = { ...transport(), post: () => { throw new Error('closed'); } };
  host.accept(wire);
  wire.onmessage({ jsonrpc: '2.0', id: 1, method: 'ping' });
  wire.onmessage({ jsonrpc: '2.0', id: 1, method: 'none' });
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok(said.length > 0);
});

const RESULT = { type: 'initialize-result', payload: { sessionId: 's', protocolVersion: '0.1', app: { id: 'x', name: 'X', version: '1' }, capabilities: [{ name: 'a', available: true }], features: {} } };
const FROM_APP = {
  result: { type: 'capabilities/call-result', payload: { success: true, data: { a: 1 } } },
  error: { type: 'capabilities/call-result', payload: { success: false, error: { code: 'NO', message: 'no', details: { a: 1 } } } },
  cancelled: { type: 'capabilities/call-result', payload: { success: false, cancelled: true, metadata: { stop: 'returned' } } },
  refused: { type: 'error', payload: { success: false, error: { code: 'NO', message: 'no' } } },
};
const TOLD = {
  progress: { type: 'progress', payload: { operationId: 'x', progress: 1 } },
  changed: { type: 'notification', payload: { event: 'notifications/capabilities/list_changed', data: { added: ['b'], removed: [], changed: [] } } },
  ended: { type: 'notification', payload: { event: 'notifications/call/ended', data: { callId: 'x', success: true, after: 1 } } },
  question: { type: 'elicitation/request', id: 'elicitation-1', payload: { method: 'x' } },
  confirmation: { type: 'capabilities/cancel-result', id: '7', payload: { callId: 'x', cancelled: true, metadata: { stop: 'returned', ended: { success: true, after: 1 } } } },
};

test('nothing that an app hands over throws into the transport of an agent, and every call is settled', async (t) => {
  const quiet = watch(t);
  const wire = transport();
  const connecting = connect(wire, { onElicitation: () => ({ success: true }) });
  while (!wire.onmessage || wire.posted.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const opening = wire.posted[0].id;
  wire.onmessage(hostile({ id: opening }, 'get', 1));
  wire.onmessage({ ...RESULT, id: opening });
  const agent = await connecting;
  for (const told of Object.values(TOLD)) for (const it of variants(told)) wire.onmessage(it);
  for (const message of Object.values(FROM_APP)) {
    for (const it of variants(message.payload)) {
      const at = wire.posted.length;
      const response = agent.call('a');
      while (wire.posted.length === at) await new Promise((resolve) => setTimeout(resolve));
      wire.onmessage({ ...message, payload: it, id: wire.posted[at].id });
      assert.equal(typeof (await response), 'object');
    }
  }
  const list = { capabilities: [{ name: 'a', description: 'b', features: {} }] };
  for (const it of variants(list)) {
    const at = wire.posted.length;
    const listed = agent.listCapabilities().then((found) => found.length, (error) => error.code);
    while (wire.posted.length === at) await new Promise((resolve) => setTimeout(resolve));
    wire.onmessage({ type: 'capabilities/list-result', payload: it, id: wire.posted[at].id });
    assert.ok([1, 'TRANSPORT_ERROR'].includes(await listed), String(await listed));
  }
  assert.ok(Array.isArray(agent.capabilities));
  await quiet();
});

test('an app whose initialize-result cannot be read is refused', async (t) => {
  const quiet = watch(t);
  for (const payload of [...variants(RESULT.payload), ...variants({ error: { code: 'NO', message: 'no', details: {} } })]) {
    const wire = transport();
    const connecting = connect(wire).then((agent) => void agent, (error) => error);
    while (!wire.onmessage || wire.posted.length === 0) await new Promise((resolve) => setTimeout(resolve));
    wire.onmessage({ type: 'initialize-result', id: wire.posted[0].id, payload });
    const error = await connecting;
    assert.ok(error === undefined || typeof error.code === 'string', String(error));
  }
  await quiet();
});

test('an error of a lent function that has no text, and an answer above the limits, reach the handler as errors', async (t) => {
  const quiet = watch(t);
  const host = await newHost({ maxMessageBytes: 10_000 });
  host.register('use', {}, (/** @type {any} */ { f }) => f().then((/** @type {any} */ it) => [it.length], (/** @type {any} */ error) => String(error.message)));
  const abp = await inPage(host);
  const call = (/** @type {any[]} */ ...answer) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => data && port1.postMessage([data[0], ...answer]);
    const done = abp.call('use', { f: {}, 'caphost/callbacks': { port: port2, paths: [['f']] } });
    return done.finally(() => port1.close());
  };
  assert.equal((await call(false, { message: { toString: 1, valueOf: 1 } })).data, 'it cannot be read');
  assert.match((await call(true, 'x'.repeat(20_000))).data, /is larger than 10000 characters/);
  assert.deepEqual((await call(true, 'x'.repeat(2_000))).data, [2_000]);
  await quiet();
});

