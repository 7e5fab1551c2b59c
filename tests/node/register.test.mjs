import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHost } from 'caphost';
import { connectPort } from 'caphost/agent';
import { z } from 'zod';
import { extensionPorts, inPage, newHost } from './host.mjs';

test('register returns a function that removes this capability, and no other of the same name', async () => {
  const host = await newHost();
  const abp = await inPage(host);
  const unregister = host.register('a', {}, () => 1);
  assert.equal(unregister(), true);
  assert.equal(unregister(), false);
  host.register('a', {}, () => 2);
  assert.equal(unregister(), false);
  assert.equal((await abp.call('a')).data, 2);
});

test('a name that is taken is refused, unless its capability is to be replaced', async () => {
  const host = await newHost();
  const abp = await inPage(host);
  /** @type {(value: unknown) => void} */
  let finish = () => {};
  const first = host.register('a', { description: 'first' }, () => new Promise((resolve) => (finish = resolve)));
  assert.throws(() => host.register('a', {}, () => 'second'), { code: 'INVALID_PARAMS', message: '"a" is registered already' });
  const running = abp.call('a');
  await abp.call('nothing');
  // An invalid replacement leaves the first capability unchanged.
  assert.throws(() => host.register('a', { replace: true, concurrency: 0 }, () => 'second'), { code: 'INVALID_PARAMS' });
  const second = host.register('a', { replace: true, description: 'second' }, () => 'second');
  assert.equal((await abp.call('a')).data, 'second');
  assert.deepEqual(host.documents().map(({ name, description }) => [name, description]), [['a', 'second']]);
  finish('first');
  assert.equal((await running).data, 'first', 'calls accepted before still run');
  assert.equal(first(), false);
  assert.equal(second(), true);
  // There is no capability to replace.
  host.register('b', { replace: true }, () => 'b');
  assert.equal((await abp.call('b')).data, 'b');
});

test('a port has one host: a second host is refused, or replaces the first if asked', async () => {
  const [one, other] = [await newHost(), await newHost()];
  let ran = 0;
  for (const host of [one, other]) host.register('count', {}, () => (ran += 1));
  const { port1, port2 } = new MessageChannel();
  const [extension] = extensionPorts();
  for (const port of [port1, /** @type {any} */ (extension)]) {
    const release = one.acceptPort(port);
    for (const host of [one, other]) assert.throws(() => host.acceptPort(port), { code: 'INVALID_PARAMS', message: /has a host already/ });
    release();
    const again = other.acceptPort(port);
    one.acceptPort(port, { replace: true });
    // The port was already released.
    again();
  }
  const agent = await connectPort(/** @type {any} */ (port2));
  assert.equal((await agent.call('count')).data, 1);
  other.acceptPort(port1, { replace: true });
  const anew = await connectPort(/** @type {any} */ (port2));
  assert.equal((await anew.call('count')).data, 2);
  assert.deepEqual([one.stats().sessions, other.stats().sessions, ran], [0, 1, 2]);
  port2.close();
});

test('connectTimeout may be infinite', async () => {
  const host = await newHost();
  for (const connectTimeout of [2 ** 31, Infinity]) {
    const { port1, port2 } = new MessageChannel();
    const connecting = connectPort(/** @type {any} */ (port2), { connectTimeout });
    setTimeout(() => host.acceptPort(port1), 50);
    await (await connecting).shutdown();
    port2.close();
  }
});

test('a closed host still reports its counters, and holds nothing', async () => {
  const host = await newHost();
  const abp = await inPage(host);
  host.register('hold', {}, () => new Promise(() => {}));
  void abp.call('hold');
  host.close();
  assert.deepEqual(host.stats(), {
    inFlight: 0, sessions: 0, elicitations: 0, tasks: 0, contexts: 0, calls: 1, cancelled: 1, lateResults: 0, endedLate: 0, lateProgress: 0,
  });
});

test('an error that a handler throws is written to the console of the app, with its stack', async (t) => {
  const logged = t.mock.method(console, 'error', () => {});
  const host = await newHost();
  const abp = await inPage(host);
  const broken = new TypeError('it is broken');
  host.register('broken', {}, () => { throw broken; });
  host.register('later', {}, async () => { throw broken; });
  host.register('answer', {}, () => { throw Object.assign(new Error('no'), { code: 'PERMISSION_DENIED' }); });
  host.register('stopped', {}, (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
  for (const name of ['broken', 'later']) {
    const { error } = await abp.call(name);
    assert.deepEqual([error?.code, error?.message], ['OPERATION_FAILED', 'it is broken']);
    assert.equal(logged.mock.calls.at(-1)?.arguments[1], broken);
  }
  assert.equal((await abp.call('answer')).error?.code, 'PERMISSION_DENIED');
  const stopped = abp.call('stopped', {}, { callId: 'stopped' });
  await abp.call('nothing');
  await abp.cancel('stopped');
  await stopped;
  assert.equal(logged.mock.callCount(), 2);
});

test('errors name bad arguments, and the expected values', async () => {
  const host = await newHost();
  const handler = () => 1;
  /** @type {[work: () => unknown, message: string][]} */
  const refused = [
    [() => host.register('', {}, handler), 'register: name must have 1 to 256 characters'],
    [() => host.register('b', /** @type {any} */ ('x'), handler), 'b: options must be an object'],
    [() => host.register('b', {}, /** @type {any} */ (undefined)), 'b: handler must be a function'],
    [() => host.register('b', { concurrency: 0 }, handler), 'b: concurrency must be a whole number from 1'],
    [() => host.register('b', { settleGrace: -1 }, handler), 'b: settleGrace must be a number of milliseconds, finite and not negative'],
    [() => host.register('b', { inputSchema: /** @type {any} */ ('x') }, handler), 'b: inputSchema is invalid: #: a schema must be an object, true or false'],
    [() => host.register('b', { outputSchema: /** @type {any} */ ('x') }, handler), 'b: outputSchema is invalid: #: a schema must be an object, true or false'],
    [() => host.observe(/** @type {any} */ (5)), 'observe: listener must be a function'],
  ];
  for (const [field, kind, values] of /** @type {const} */ ([
    ['description', 'string', [5, null]], ['available', 'boolean', ['no', 0]], ['requirements', 'array', [5, {}]], ['alternatives', 'array', ['echo']], ['features', 'object', [[]]],
  ])) {
    for (const value of values) refused.push([() => host.register('b', /** @type {any} */ ({ [field]: value }), handler), `b: ${field} must be of type ${kind}`]);
  }
  for (const [work, message] of refused) assert.throws(work, { code: 'INVALID_PARAMS', message });
  const app = { id: 'a', name: 'a', version: '1' };
  await assert.rejects(createHost({ app: { ...app, id: '' } }), { message: 'app.id must be a string of 1 to 256 characters' });
  await assert.rejects(createHost({ app, maxDepth: /** @type {any} */ ('x') }), { message: 'maxDepth must be a number, not negative' });
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  await assert.rejects(connectPort(/** @type {any} */ (port2), { grace: -1 }), { message: 'grace must be a number of milliseconds, not negative' });
  for (const name of ['onNotification', 'onElicitation']) {
    await assert.rejects(connectPort(/** @type {any} */ (port2), { [name]: 5 }), { code: 'INVALID_PARAMS', message: `${name} must be a function` });
  }
  const agent = await connectPort(/** @type {any} */ (port2), /** @type {any} */ (null));
  const bad = [{ signal: {} }, { timeout: -1 }, { callId: 7 }, { onProgress: 1 }, { transfer: 7 }];
  const said = await Promise.all(bad.map(async (options) => (await agent.call('x', {}, /** @type {any} */ (options))).error?.message));
  assert.deepEqual(said, [
    'signal must be an AbortSignal', 'timeout must be a number of milliseconds, not negative', 'callId must be a string', 'onProgress must be a function', 'transfer must be an array',
  ]);
  assert.equal((await agent.call('x', /** @type {any} */ ([]))).error?.message, 'params must be an object');
  for (const options of [5, 'x', []]) assert.equal((await agent.call('x', {}, /** @type {any} */ (options))).error?.message, 'options must be an object');
  port2.close();
});

test('an agent does not expand the descriptions of an app\'s capabilities', async () => {
  const { port1, port2 } = new MessageChannel();
  const sparse = new Array(2 ** 32 - 1);
  port1.onmessage = ({ data: { id, type } }) => {
    if (type !== 'initialize') return;
    port1.postMessage({ type: 'initialize-result', id, timestamp: 0, payload: { sessionId: 's', protocolVersion: '0.1', app: {}, capabilities: sparse, features: {} } });
    port1.postMessage({ type: 'notification', timestamp: 0, payload: { event: 'notifications/capabilities/list_changed', data: { added: sparse, removed: sparse, changed: ['a'] } } });
  };
  const before = process.cpuUsage();
  /** @type {(value: unknown) => void} */
  let told = () => {};
  const changed = new Promise((resolve) => (told = resolve));
  const agent = await connectPort(/** @type {any} */ (port2), { onNotification: told });
  await changed;
  assert.ok(process.cpuUsage(before).user < 2e6);
  assert.deepEqual(agent.capabilities, [{ name: 'a', available: true }]);
  port1.close();
});

test('unknown options are reported, each name once, with the known options', async (t) => {
  const warned = t.mock.method(console, 'warn', () => {});
  const every = {
    description: '', inputSchema: {}, outputSchema: {}, concurrency: 1, settleGrace: 1, replace: true, available: true, requirements: [], features: {},
    experimental: false, deprecated: true, deprecationMessage: '', alternatives: [],
  };
  for (let round = 0; round < 2; round += 1) {
    const host = await newHost(/** @type {any} */ ({ alowedOrigins: [], maxInFlight: 1, liveness: 1e9, settleGrace: 1, cancelUndeclared: true }));
    host.register('a', every, () => 1);
    host.register('a', /** @type {any} */ ({ replace: true, inputShema: {} }), () => 1);
    host.registerWorker('a', { replace: true }, 'https://app.example/a.js', /** @type {any} */ ({ warm: false, pol: 2 }));
  }
  const told = warned.mock.calls.map(({ arguments: [text] }) => String(text));
  assert.deepEqual(told.map((text) => text.split('. ')[0]), [
    'caphost: createHost: unknown option "alowedOrigins"',
    'caphost: register: unknown option "inputShema"',
    'caphost: registerWorker: unknown option "pol"',
  ]);
  assert.match(told[1] ?? '', /Known are .*\binputSchema\b/);
});

test('a schema that no parameters can fit is refused', async () => {
  const host = await newHost();
  /** @type {[object, string][]} */
  const bad = [[{ type: 'string' }, 'string'], [{ type: ['array', 'null'] }, 'array,null'], [z.string(), 'string'], [z.array(z.string()), 'array']];
  for (const [inputSchema, type] of bad) {
    const message = `a: inputSchema must be of an object, which parameters are, not of type ${type}`;
    assert.throws(() => host.register('a', { inputSchema }, () => 1), { code: 'INVALID_PARAMS', message });
  }
  for (const inputSchema of [{}, true, { type: ['object', 'null'] }, { properties: {} }, z.object({}), z.union([z.object({}), z.object({ a: z.string() })])]) {
    host.register('a', { inputSchema, replace: true }, () => 1);
  }
});

test('the console shows an error that a handler throws with the names of its capability and call, unless the handler was told to stop', async (t) => {
  const written = t.mock.method(console, 'error', () => {});
  const host = await newHost();
  const abp = await inPage(host);
  const broken = new Error('broken');
  host.register('breaks', {}, () => {
    throw broken;
  });
  host.register('parent', {}, async (_params, { call }) => (await call('breaks', {}, { callId: 'child' })).success);
  host.register('held', {}, async (_params, { signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    signal.throwIfAborted();
  });
  host.register('own words', {}, async (_params, { signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    throw new Error('stopped');
  });
  await abp.call('breaks', {}, { callId: 'mine' });
  await abp.call('parent');
  for (const name of ['held', 'own words']) {
    const call = abp.call(name, {}, { callId: name });
    await new Promise((resolve) => setTimeout(resolve));
    assert.equal((await abp.cancel(name)).metadata?.stop, 'returned');
    assert.equal((await call).cancelled, true);
  }
  assert.deepEqual(written.mock.calls.map((it) => it.arguments), [
    ['caphost: breaks (call mine) has failed:', broken],
    ['caphost: breaks (call child) has failed:', broken],
  ]);
});

test('the hints on what a call does reach agents and the manifest, and a hint that is no boolean is refused', async () => {
  const host = await newHost();
  const annotations = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false };
  host.register('notes.clear', { annotations }, () => {});
  host.register('notes.list', {}, () => {});
  const abp = await inPage(host);
  assert.deepEqual((await abp.describeCapability('notes.clear'))?.annotations, annotations);
  assert.deepEqual(host.manifest().capabilities.map((it) => it.annotations), [annotations, undefined]);
  for (const [wrong, said] of /** @type {[any, RegExp][]} */ ([
    [{ readOnlyHint: 'yes' }, /odd: annotations\.readOnlyHint must be true or false/],
    ['destructive', /annotations must be of type object/],
    [[], /annotations must be of type object/],
  ])) assert.throws(() => host.register('odd', { annotations: wrong }, () => {}), said);
});
