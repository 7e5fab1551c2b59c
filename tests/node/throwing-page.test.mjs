import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectPort } from 'caphost/agent';
import { inPage, newHost } from './host.mjs';

/** Values that are thrown, and that throw again when they are read. */
const ODD = [
  new Proxy({}, { get: () => { throw new Error('nobody reads it'); } }),
  { get message() { throw new Error('no message'); }, toString() { throw new Error('no text'); } },
  { get code() { throw new Error('no code'); }, message: 1n },
  Object.create(null),
  Symbol('thrown'),
  undefined,
];

/** @param {import('node:test').TestContext} t */
function consoleThatThrows(t) {
  /** @type {any[][]} */
  const said = [];
  for (const how of /** @type {const} */ (['error', 'warn'])) {
    t.mock.method(console, how, (/** @type {any[]} */ ...what) => {
      said.push([how, ...what]);
      throw new Error(`console.${how} throws`);
    });
  }
  return said;
}

test('if the console throws, a failing handler is answered, and the host continues', { timeout: 20_000 }, async (t) => {
  const said = consoleThatThrows(t);
  const host = await newHost(/** @type {any} */ ({ misspelt: true }));
  host.register('fails', {}, () => { throw new Error('on purpose'); });
  host.register('rejects', {}, async () => { throw new Error('on purpose'); });
  host.register('reports what cannot be sent', {}, (_, { progress }) => progress(/** @type {any} */ ({ progress: 1, odd: () => {} })));
  host.register('has a schema that is odd', { inputSchema: { type: 'object', properties: { a: { format: 'no such format' } } } }, () => 1);
  host.register('echo', {}, (params) => params);
  const abp = await inPage(host);
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  t.after(() => port2.close());
  for (const agent of /** @type {any[]} */ ([abp, await connectPort(port2)])) {
    for (const name of ['fails', 'rejects']) {
      const { error } = /** @type {any} */ (await agent.call(name));
      assert.deepEqual([error.code, error.message], ['OPERATION_FAILED', 'on purpose'], name);
    }
    assert.equal((await agent.call('reports what cannot be sent', {}, { progressToken: 'p' })).success, true);
    assert.equal((await agent.call('has a schema that is odd')).success, true);
    assert.deepEqual((await agent.call('echo', { a: 1 })).data, { a: 1 });
  }
  assert.ok(said.some((it) => String(it[1]).includes('unknown option "misspelt"')));
  assert.equal(said.filter((it) => String(it[1]).includes('has failed:') && it[2].message === 'on purpose').length, 4);
});

test('a call is answered for every value that its handler throws or returns, even an unreadable one', { timeout: 20_000 }, async (t) => {
  consoleThatThrows(t);
  const host = await newHost();
  host.register('throws', {}, (/** @type {any} */ { at }) => { throw ODD[at]; });
  host.register('rejects', {}, (/** @type {any} */ { at }) => Promise.reject(ODD[at]));
  host.register('gives a promise that cannot be looked at', {}, () =>
    Object.defineProperty(Promise.resolve(1), 'constructor', { get() { throw new Error('not to be looked at'); } }));
  host.register('gives a promise that cannot be waited for', {}, () =>
    Object.defineProperty(Promise.resolve(1), 'then', { value: () => { throw new Error('not to be waited for'); } }));
  host.register('echo', {}, (params) => params);
  const abp = await inPage(host);
  for (const name of ['throws', 'rejects']) {
    for (const at of ODD.keys()) assert.equal((await abp.call(name, { at })).error?.code, 'OPERATION_FAILED', `${name} ${at}`);
  }
  for (const what of ['looked at', 'waited for']) {
    assert.equal((await abp.call(`gives a promise that cannot be ${what}`)).error?.message, `not to be ${what}`);
  }
  assert.deepEqual((await abp.call('echo', { a: 1 })).data, { a: 1 });
});

test('observers are told after the answer, in order, of what came before they stopped', { timeout: 20_000 }, async (t) => {
  consoleThatThrows(t);
  const host = await newHost();
  host.register('echo', {}, (params) => params);
  const { port1, port2 } = new MessageChannel();
  /** @type {string[]} */
  const order = [];
  const post = port1.postMessage.bind(port1);
  port1.postMessage = (/** @type {any[]} */ ...given) => {
    order.push('said');
    return /** @type {any} */ (post)(...given);
  };
  host.acceptPort(port1);
  t.after(() => port2.close());
  const agent = await connectPort(port2);
  order.length = 0;
  /** @type {string[]} */
  const late = [];
  const stop = host.observe((event) => {
    if (event.type !== 'call') return;
    order.push(event.state);
    if (event.state === 'running') stop();
    throw new Error('an observer');
  });
  host.observe((event) => {
    if (event.type === 'call') late.push(event.state);
  });
  assert.equal((await agent.call('echo')).success, true);
  assert.deepEqual(order, ['queued', 'said', 'running']);
  assert.deepEqual(late, ['queued', 'running', 'completed']);
});
