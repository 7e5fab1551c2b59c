import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { connectPort } from 'caphost/agent';
import { newHost } from './host.mjs';

/** @param {string} code of a module @param {import('node:test').TestContext} t */
function workerOf(code, t) {
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    import { createHost } from '${import.meta.resolve('caphost')}';
    import { connectPort } from '${import.meta.resolve('caphost/agent')}';
    ${code}`)}`));
  t.after(() => worker.terminate());
  return worker;
}

test('a host serves an agent in a worker of Node, and notices its end', async (t) => {
  const host = await newHost();
  host.register('sum', {}, ({ numbers }) => numbers.reduce((/** @type {number} */ sum, /** @type {number} */ it) => sum + it, 0));
  host.register('hold', {}, (_params, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)));
  /** @type {(told: any) => void} */
  let tell = () => {};
  const told = new Promise((resolve) => (tell = resolve));
  host.register('tell', {}, (params) => tell(params));
  const worker = workerOf(`
    const agent = await connectPort(parentPort);
    const { data } = await agent.call('sum', { numbers: [1, 2] });
    void agent.call('hold');
    await agent.call('tell', { data });`, t);
  host.acceptPort(worker);
  assert.deepEqual(await told, { data: 3 });
  assert.deepEqual([host.stats().sessions, host.stats().inFlight], [1, 1]);
  await worker.terminate();
  while (host.stats().sessions > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(host.stats().inFlight, 0);
  assert.equal(worker.listenerCount('message'), 0);
});

test('a host in a worker of Node serves the agent outside', async (t) => {
  const worker = workerOf(`
    const host = await createHost({ app: { id: 'inside', name: 'Inside', version: '1' } });
    host.register('double', {}, ({ n }) => 2 * n);
    host.acceptPort(parentPort);`, t);
  const agent = await connectPort(worker);
  assert.equal((await agent.call('double', { n: 2 })).data, 4);
  await agent.shutdown();
});

test('the error for a value that is no port says what a port is', async () => {
  const host = await newHost();
  for (const port of [undefined, null, {}, { postMessage() {} }, { on() {} }]) {
    const refusal = (/** @type {string} */ where) => ({ code: 'INVALID_PARAMS', message: `${where}(port): port must be a MessagePort, a Worker or an extension port` });
    assert.throws(() => host.acceptPort(/** @type {any} */ (port)), refusal('acceptPort'));
    await assert.rejects(connectPort(/** @type {any} */ (port)), refusal('connectPort'));
  }
});

test('after a blocked worker continues, a repeated cancel gets its late answer', async (t) => {
  const worker = workerOf(`
    const host = await createHost({ app: { id: 'inside', name: 'Inside', version: '1' } });
    const wait = (milliseconds) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
    host.register('hold', {}, (_, { signal }) => new Promise((resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
    let finish;
    host.register('finish', {}, () => new Promise((resolve) => (finish = resolve)));
    host.register('stand.still', {}, () => {
      finish();
      wait(700);
    });
    host.acceptPort(parentPort);`, t);
  const agent = await connectPort(worker, { grace: 100 });
  const held = agent.call('hold', {}, { callId: 'held' });
  const finished = agent.call('finish', {}, { callId: 'finished' });
  await agent.listCapabilities();
  const still = agent.call('stand.still');
  await new Promise((resolve) => setTimeout(resolve, 30));
  const first = await Promise.all([agent.cancel('held'), held, agent.cancel('finished'), finished]);
  assert.deepEqual(first.map(({ error }) => error?.code), ['TIMEOUT', 'TIMEOUT', 'TIMEOUT', 'TIMEOUT']);
  await still;
  assert.deepEqual(await agent.cancel('held'), { callId: 'held', cancelled: true, metadata: { stop: 'returned' } });
  assert.deepEqual(await agent.cancel('finished'), { callId: 'finished', cancelled: false, reason: 'Operation already completed' });
  await agent.shutdown();
});
