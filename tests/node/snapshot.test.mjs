import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectPort } from 'caphost/agent';
import { isSimple } from '../../src/web/js/plain.js';
import { snapshot } from '../../src/web/js/snapshot.js';
import { transferables } from '../../src/web/js/transfer.js';
import { inPage, newHost } from './host.mjs';

/** Whether the work takes less than a second. With the fault that the test looks for, it takes minutes. @param {() => unknown} work */
function isQuick(work) {
  const began = performance.now();
  work();
  return performance.now() - began < 1_000;
}

test('an object that appears many times is read once', () => {
  /** @type {unknown[]} */
  let shared = [1];
  for (let level = 0; level < 7; level += 1) shared = Array(100).fill(shared);
  assert.ok(isQuick(() => assert.equal(isSimple(shared), false)));
  assert.ok(isQuick(() => transferables({ shared }, false)));
});

test('a sparse array is not expanded by its copy', () => {
  const sparse = new Array(2 ** 32 - 1);
  assert.ok(isQuick(() => snapshot({ sparse })));
});

test('a copy keeps what a clone keeps', () => {
  const shared = { a: 1 };
  const twice = /** @type {any} */ (snapshot({ one: shared, two: shared }).params);
  assert.equal(twice.one, twice.two);
  const named = /** @type {any} */ (snapshot({ list: Object.assign([1, 2], { name: 'x' }) }).params);
  assert.equal(named.list.name, 'x');
  const holes = /** @type {any} */ (snapshot({ list: [1, , 3] }).params); // eslint-disable-line no-sparse-arrays
  assert.equal(1 in holes.list, false);
  const own = /** @type {any} */ (snapshot(JSON.parse('{"__proto__":{"x":1},"a":{"__proto__":{"y":2}}}')).params);
  assert.deepEqual([Object.keys(own), Object.keys(own.a), own.x, own.a.y], [['__proto__', 'a'], ['__proto__'], undefined, undefined]);
});

test('members that are named by symbols stay with their owner, as no transport sends them', async () => {
  const key = Symbol('key');
  const live = { of: 'the caller' };
  const host = await newHost({ maxMessageBytes: 1_000 });
  /** @type {any} */
  let got;
  host.register('keep', {}, (params) => {
    got = params;
    return { [key]: live, inner: { [key]: live, a: 1 } };
  });
  const abp = await inPage(host);
  const { success, data, error } = await abp.call('keep', { [key]: 'x'.repeat(10_000), inner: { [key]: live, a: 1 } });
  assert.equal(success, true, error?.message);
  assert.deepEqual([Reflect.ownKeys(got), Reflect.ownKeys(got.inner)], [['inner'], ['a']]);
  assert.deepEqual([Reflect.ownKeys(data), Reflect.ownKeys(data.inner)], [['inner'], ['a']]);
});

test('the handler gets exactly the value that passed the schema, for all kinds of arrays', async () => {
  const host = await newHost();
  host.register('numbers', { inputSchema: { type: 'object', properties: { list: { type: 'array', items: { type: 'number' } } } } }, ({ list }) => list);
  const abp = await inPage(host);
  await abp.call('numbers', { list: [1] });
  /** @type {any} */
  let kept;
  class Kept extends Array {}
  const species = function keep() {
    kept = [];
    return kept;
  };
  Object.defineProperty(Kept, Symbol.species, { value: species });
  const list = Object.setPrototypeOf([1, 2], Kept.prototype);
  const call = abp.call('numbers', { list });
  if (kept) kept[0] = 'a text';
  assert.deepEqual((await call).data, [1, 2]);
});

test('a proxy of a date or a pattern is refused and not sent as an empty object, and one of an object of a class is copied', async (t) => {
  const host = await newHost();
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  t.after(() => port2.close());
  class Point {
    x = 1;
  }
  const proxies = { date: new Proxy(new Date(0), {}), pattern: new Proxy(/a/, {}), error: new Proxy(new RangeError('no'), {}), number: new Proxy(Object(1), {}) };
  for (const [name, proxy] of Object.entries(proxies)) {
    host.register(name, {}, () => ({ proxy }));
    assert.throws(() => snapshot({ proxy }), { name: 'DataCloneError' }, name);
  }
  host.register('point', {}, () => new Proxy({ list: [new Point()] }, {}));
  assert.deepEqual(snapshot({ point: new Proxy(new Point(), {}) }).params, { point: { x: 1 } });
  const agent = await connectPort(port2);
  for (const name of Object.keys(proxies)) {
    const { success, error } = await agent.call(name, {});
    assert.deepEqual([success, error?.code], [false, 'OPERATION_FAILED'], name);
  }
  assert.deepEqual((await agent.call('point', {})).data, { list: [{ x: 1 }] });
});
