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
