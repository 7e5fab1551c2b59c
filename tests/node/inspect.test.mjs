import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect, measure } from '../../src/web/js/inspect.js';
import { snapshot } from '../../src/web/js/snapshot.js';
import { transferables } from '../../src/web/js/transfer.js';

const long = 'x'.repeat(100);
const tooLarge = 'is larger than 90 characters';
const tooDeep = 'is cyclic, or nested more than 8 levels deep';

/** Returns the megabytes of memory that the work takes. @param {() => void} work */
function heldBy(work) {
  const before = process.memoryUsage();
  work();
  const after = process.memoryUsage();
  return (after.heapTotal + after.external - before.heapTotal - before.external) / 2 ** 20;
}

test('a sparse array is charged by its length before it is expanded', () => {
  /** @type {unknown[]} */
  const sparse = [];
  sparse.length = 2 ** 32 - 1;
  const held = heldBy(() => assert.equal(inspect({ sparse }, 128, 2 ** 24), 'is larger than 16777216 characters'));
  assert.ok(held < 50, `${held} MB`);
});

test('a sparse array within the limit is not expanded either', () => {
  /** @type {unknown[]} */
  const sparse = [];
  sparse[2 ** 24 - 1000] = 'last';
  const held = heldBy(() => assert.equal(inspect([sparse], 128, 2 ** 24), undefined));
  assert.ok(held < 50, `${held} MB`);
  assert.equal(inspect([sparse, sparse], 128, 2 ** 24), 'is larger than 16777216 characters');
});

/** Functions that put a too long text, or too many levels, into a value. @type {Record<string, (inner: any) => any>} */
const holders = {
  'an object': (inner) => ({ inner }),
  'an array': (inner) => [inner],
  'an array, beside its elements': (inner) => Object.assign([1, 2], { inner }),
  'a sparse array, beside its elements': (inner) => Object.assign(new Array(5), { inner }),
  'a value of a Map': (inner) => new Map([['key', inner]]),
  'a key of a Map': (inner) => new Map([[inner, 'value']]),
  'a Set': (inner) => new Set([inner]),
  'the cause of an Error': (inner) => Object.assign(new Error('', { cause: inner }), { stack: '' }),
  'the cause of an Error with a name of its own': (inner) => Object.assign(new (class extends Error { get [Symbol.toStringTag]() { return 'Own'; } })('', { cause: inner }), { stack: '' }),
  'an object without a prototype': (inner) => Object.assign(Object.create(null), { inner }),
  'an object of a class': (inner) => Object.assign(new (class Thing {})(), { inner }),
  'an object of a class with a name of its own': (inner) => Object.assign(new (class Thing { get [Symbol.toStringTag]() { return 'Thing'; } })(), { inner }),
  'an object of a class that is named like an Error': (inner) => Object.assign(new (class Thing { get [Symbol.toStringTag]() { return 'Error'; } })(), { inner }),
  'an object of a class that is named like a buffer': (inner) => Object.assign(new (class Thing { get [Symbol.toStringTag]() { return 'MyBuffer'; } })(), { inner }),
};

for (const [what, hold] of Object.entries(holders)) {
  test(`${what} counts towards size and depth`, () => {
    assert.equal(inspect(hold('short'), 8, 90), undefined);
    assert.equal(inspect(hold(long), 8, 90), tooLarge);
    let deep = hold(1);
    for (let level = 1; level < 8; level += 1) deep = hold(deep);
    assert.equal(inspect(deep, 8, 1e6), undefined);
    assert.equal(inspect(hold(deep), 8, 1e6), tooDeep);
    const clone = /** @type {any} */ (structuredClone(hold(long)));
    assert.equal(inspect(clone, 8, 90), tooLarge, 'as it comes over a port');
  });
}

test('named properties of a long array count', () => {
  for (const length of [1024, 1025, 100_000]) {
    const list = () => Array(length).fill(1);
    assert.equal(inspect(Object.assign(list(), { inner: 'x'.repeat(1000) }), 8, 2e6), undefined);
    for (const it of [{ inner: 'x'.repeat(2e6) }, { ['x'.repeat(2e6)]: 1 }]) {
      assert.equal(inspect(Object.assign(list(), it), 8, 2e6), 'is larger than 2000000 characters');
    }
    assert.equal(inspect(Object.assign(list(), { inner: [[[[[[[[[1]]]]]]]]] }), 8, 2e6), tooDeep);
  }
});

test('many empty members count', () => {
  const hundred = Array.from({ length: 100 }, (_, at) => at);
  for (const it of [hundred, new Set(hundred), new Map(hundred.map((at) => [at, at])), new Array(100)]) {
    assert.equal(inspect(it, 8, 90), tooLarge);
    assert.equal(inspect(it, 8, 300), undefined);
  }
});

test('a text, a number or a pattern counts, also inside a wrapper object', () => {
  for (const it of [long, Object(long), new RegExp(long), 2n ** 2000n, -(2n ** 2000n), Object(2n ** 2000n), new Error(long), new DOMException(long)]) {
    assert.equal(inspect({ it }, 8, 90), tooLarge, Object.prototype.toString.call(it));
  }
  for (const it of ['x', Object('x'), /x/, 2n ** 63n, Object(7n), new Date(), Object(7), Object(true), null, undefined]) {
    assert.equal(inspect({ it }, 8, 90), undefined);
  }
});

test('binary data takes memory, and each buffer once', () => {
  const buffer = new ArrayBuffer(1e6);
  /** @param {unknown} value */
  const memoryOf = (value) => Math.floor(Number(measure(value, 8, 90)) / 1e6);
  assert.equal(memoryOf([buffer, new Uint8Array(buffer), { view: new DataView(buffer, 1, 1) }]), 1);
  assert.equal(memoryOf(new Set([buffer, new ArrayBuffer(1e6)])), 2);
  assert.equal(memoryOf(new SharedArrayBuffer(1e6)), 1);
  assert.equal(memoryOf([]), 0);
});

test('binary data does not count as characters, in any amount', () => {
  const buffer = new ArrayBuffer(1e6);
  const all = [buffer, new Uint8Array(buffer), new Float64Array(8), new DataView(buffer), new Blob([buffer]), new BigInt64Array(1000)];
  assert.equal(inspect(all, 8, 90), undefined);
});

test('an unreadable value is reported', () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  assert.equal(inspect({ proxy }, 8, 90), 'cannot be read');
  assert.equal(inspect({ get it() { throw new Error('no'); } }, 8, 90), 'cannot be read');
  assert.equal(inspect(new Map([[1, () => {}]]), 8, 90), 'holds a function');
  assert.equal(inspect(new Set([Symbol('s')]), 8, 90), 'holds a symbol');
});

test('parameters that are no plain object stay what they are', () => {
  const { params } = snapshot(new Map([['a', { b: 1 }]]));
  assert.deepEqual(params, new Map([['a', { b: 1 }]]));
});

test('an object that can only be moved is found in a Map and a Set', () => {
  const { port1, port2 } = new MessageChannel();
  const payload = { map: new Map([['port', [port1]]]), set: new Set([{ port2 }]), same: port1 };
  assert.deepEqual(new Set(transferables(payload, false)), new Set([port1, port2]));
  port1.close();
});
