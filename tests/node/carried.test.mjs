import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { connectPort } from 'caphost/agent';
import { inPage, newHost } from './host.mjs';

test('a Buffer of Node is sent without the rest of its pool, over a port and to a worker', async (t) => {
  const host = await newHost();
  const part = () => Buffer.from('text');
  assert.ok(part().buffer.byteLength > 4);
  host.register('part', {}, () => ({ list: [part()] }));
  host.register('size', {}, ({ bytes }) => [bytes.buffer.byteLength, Buffer.from(bytes).toString()]);
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    import { createHost } from '${import.meta.resolve('caphost')}';
    const host = await createHost({ app: { id: 'inside', name: 'Inside', version: '1' } });
    host.register('size', {}, ({ bytes }) => [bytes.buffer.byteLength, Buffer.from(bytes).toString()]);
    host.register('part', {}, () => ({ list: [Buffer.from('text')] }));
    host.acceptPort(parentPort);`)}`));
  t.after(() => worker.terminate());
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  for (const port of [port2, worker]) {
    const agent = await connectPort(port);
    assert.deepEqual((await agent.call('size', { bytes: part() })).data, [4, 'text']);
    const { data } = await agent.call('part');
    assert.deepEqual([data.list[0].buffer.byteLength, Buffer.from(data.list[0]).toString()], [4, 'text']);
    await agent.shutdown();
  }
  assert.deepEqual((await (await inPage(host)).call('size', { bytes: part() })).data, [4, 'text']);
  port2.close();
});

test('a reactive Map that a handler returns is copied by its own methods', async () => {
  const host = await newHost();
  const map = new Map([['a', { b: 1 }]]);
  // As in Vue: each method is called on the Map itself.
  const reactive = new Proxy(map, { get: (target, key) => (typeof Reflect.get(target, key, target) === 'function' ? Reflect.get(target, key, target).bind(target) : Reflect.get(target, key, target)) });
  host.register('map', {}, () => ({ map: reactive }));
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const agent = await connectPort(port2);
  assert.deepEqual((await agent.call('map')).data, { map: new Map([['a', { b: 1 }]]) });
  await agent.shutdown();
});

test('an answer to a question is sent like data: a view alone, and a proxy as a copy', async () => {
  const host = await newHost();
  host.register('ask', {}, async (_, { elicit }) => {
    const { data } = /** @type {any} */ (await elicit({ method: 'x' }));
    return [data.view.buffer.byteLength, data.proxy];
  });
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const agent = await connectPort(port2, { onElicitation: async () => ({ success: true, data: { view: new Uint8Array(4096).subarray(0, 4), proxy: new Proxy({ a: 1 }, {}) } }) });
  assert.deepEqual((await agent.call('ask')).data, [4, { a: 1 }]);
  await agent.shutdown();
});

class Tagged {
  /** @param {unknown} inner */
  constructor(inner) {
    this.inner = inner;
  }

  get [Symbol.toStringTag]() {
    return 'Tagged';
  }
}

const part = () => new Uint8Array(4096).subarray(8, 12);
/** What holds a view of a part of a buffer, and where the view is. @type {Record<string, [make: () => any, find: (it: any) => any]>} */
const HOLDERS = {
  'the cause of an Error': [() => new Error('x', { cause: part() }), ({ cause }) => cause],
  'a DataView that is the cause of a TypeError': [() => new TypeError('x', { cause: new DataView(new ArrayBuffer(4096), 8, 4) }), ({ cause }) => cause],
  'an object in the cause of the cause': [() => new Error('x', { cause: new RangeError('y', { cause: { list: [part()] } }) }), ({ cause }) => cause.cause.list[0]],
  'a Map in the cause of an Error of a class': [() => new (class Own extends Error {})('x', { cause: new Map([['a', part()]]) }), ({ cause }) => cause.get('a')],
  'an Error with a name of its own': [() => new (class extends Error { get [Symbol.toStringTag]() { return 'Own'; } })('x', { cause: part() }), ({ cause }) => cause],
  'an Error in a Set in a Map': [() => new Map([['a', new Set([new Error('x', { cause: part() })])]]), (it) => it.get('a').values().next().value.cause],
  'a key of a Map': [() => new Map([[part(), 1]]), (it) => [...it.keys()][0]],
  'an AggregateError with a cause': [() => new AggregateError([part()], 'x', { cause: part() }), ({ cause }) => cause],
  'a list longer than most': [() => Array.from({ length: 2000 }, part), (it) => it[1999]],
  'an object of a class': [() => Object.assign(new (class Thing {})(), { inner: part() }), ({ inner }) => inner],
  'an object of a class with a name of its own': [() => new Tagged(part()), ({ inner }) => inner],
};

for (const [what, [make, find]] of Object.entries(HOLDERS)) {
  test(`a view is sent without the rest of its buffer: ${what}`, async () => {
    const host = await newHost();
    /** @type {any[]} */
    const seen = [];
    const sizeIn = (/** @type {any} */ it) => {
      const view = find(it);
      return [view.byteLength, view.buffer.byteLength];
    };
    host.register('give', {}, () => ({ it: make() }));
    host.register('size', {}, ({ it }) => sizeIn(it));
    host.register('tell', {}, (_, { progress }) => progress(/** @type {any} */ ({ it: make() })));
    host.register('ask', {}, async (_, { elicit }) => sizeIn((await elicit(/** @type {any} */ ({ method: 'x', it: make() }))).data));
    host.register('fail', {}, () => {
      throw Object.assign(new Error('x'), { details: { it: make() } });
    });
    const { port1, port2 } = new MessageChannel();
    host.acceptPort(port1);
    const agent = await connectPort(port2, { onElicitation: ({ it }) => (seen.push(sizeIn(it)), { success: true, data: make() }) });
    const own = make();
    assert.deepEqual((await agent.call('size', { it: own })).data, [4, 4]);
    // The sender keeps its own.
    assert.deepEqual(sizeIn(own), [4, 4096]);
    assert.deepEqual(sizeIn((await agent.call('give')).data.it), [4, 4]);
    assert.deepEqual((await agent.call('ask')).data, [4, 4]);
    await agent.call('tell', {}, { onProgress: (/** @type {any} */ info) => seen.push(sizeIn(info.it)) });
    seen.push(sizeIn(/** @type {any} */ (await agent.call('fail')).error.details.it));
    assert.deepEqual(seen, Array(3).fill([4, 4]));
    await agent.shutdown();
  });
}

test('an Error is sent as the Error that it is, also beside a view of a part of a buffer', async () => {
  const host = await newHost();
  const error = () => Object.assign(new RangeError('far', { cause: new TypeError('near') }), { own: 1 });
  host.register('give', {}, () => [part(), error()]);
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const agent = await connectPort(port2);
  const given = (await agent.call('give')).data[1];
  assert.ok(given instanceof RangeError && given.cause instanceof TypeError);
  assert.deepEqual([given.name, given.message, given.cause.message, typeof given.stack], ['RangeError', 'far', 'near', 'string']);
  await agent.shutdown();
});
