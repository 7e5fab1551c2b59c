import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { nextEvent } from '../support/app-page.mjs';
import { startBalancer } from '../support/balancer.mjs';
import { useCluster } from '../support/cluster.mjs';
import { timed } from '../support/timing.mjs';

/** Milliseconds within which calls on a dead worker settle everywhere. */
const settledWithin = 5_000;

const cluster = useCluster({ workers: 3 });
/** The load balancer before the workers, for the page. @type {Awaited<ReturnType<typeof startBalancer>>} */
let front;
before(async () => {
  await cluster.begun;
  front = await startBalancer(cluster.workers);
});
after(() => front?.close());
/** Restarts the workers that were ended, for the next test. */
afterEach(() => Promise.all(cluster.workers.filter(({ alive }) => !alive).map((worker) => worker.restart())));

/** Starts a call of an agent on a worker. @param {number} number @param {string} callId */
async function agentWithCall(number, callId) {
  const agent = await cluster.agent(number);
  const held = agent.call('test.hold', {}, { callId });
  await agent.call('test.started', { callId });
  return { agent, held };
}

for (const how of /** @type {const} */ (['is killed', 'hangs'])) {
  test(`when the app's worker ${how}, calls from other workers settle, and the app is callable again`, { timeout: 90_000 }, async () => {
    const page = await cluster.appPage(front);
    try {
      const agents = [await agentWithCall(2, 'from 2'), await agentWithCall(3, 'from 3')];
      const connected = await nextEvent(page, { type: 'gateway', state: 'connected' });
      const worker = cluster.worker(1);
      if (how === 'hangs') worker.hang();
      else await worker.end();
      await Promise.all(agents.map(async ({ agent, held }) => {
        const { value, ms } = await timed(held);
        assert.deepEqual([value.success, value.cancelled, value.error?.code, value.error?.retryable], [false, undefined, 'DISCONNECTED', true]);
        assert.ok(ms < settledWithin, `settled after ${Math.round(ms)} ms`);
        assert.equal(await agent.closed, 'disconnected');
      }));
      if (how === 'hangs') worker.goOn();
      else await connected();
      for (const number of [2, 3]) {
        const again = await cluster.agent(number);
        assert.deepEqual((await again.call('test.echo', { number })).data, { number });
        const { data } = await again.call('test.report', { callId: `from ${number}` });
        assert.deepEqual([data.started, data.aborted], [true, true], 'nobody waits for it, so it was stopped');
        await again.shutdown();
      }
      if (!worker.alive) await worker.restart();
      const back = await cluster.agent(1);
      assert.deepEqual((await back.call('test.echo', { back: 1 })).data, { back: 1 });
      await back.shutdown();
    } finally {
      await page.close();
    }
  });
}

for (const how of /** @type {const} */ (['is killed', 'hangs'])) {
  test(`when an agent's worker ${how}, its calls are stopped in the page, and nobody else's`, { timeout: 90_000 }, async () => {
    const page = await cluster.appPage(cluster.worker(1));
    try {
      const lost = await agentWithCall(2, 'lost');
      const kept = await agentWithCall(3, 'kept');
      const stopped = await nextEvent(page, { type: 'call', callId: 'lost', state: 'cancelled' });
      const worker = cluster.worker(2);
      if (how === 'hangs') worker.hang();
      else await worker.end();
      const { ms } = await timed(stopped());
      assert.ok(ms < settledWithin, `stopped after ${Math.round(ms)} ms`);
      if (how === 'hangs') worker.goOn();
      const { success, error } = await lost.held;
      assert.deepEqual([success, error?.code], [false, 'DISCONNECTED']);
      const { data } = await kept.agent.call('test.report', { callId: 'kept' });
      assert.deepEqual([data.started, data.aborted], [true, false]);
      await kept.agent.call('test.release', { callId: 'kept' });
      assert.deepEqual((await kept.held).data, { released: true });
      await kept.agent.shutdown();
      if (!worker.alive) await worker.restart();
      const back = await cluster.agent(2);
      assert.deepEqual((await back.call('test.echo', { back: 2 })).data, { back: 2 });
      await back.shutdown();
    } finally {
      await page.close();
    }
  });
}

test('a worker that is stopped settles what is in flight before it leaves', { timeout: 90_000 }, async () => {
  const page = await cluster.appPage(front);
  try {
    const { agent, held } = await agentWithCall(2, 'at the stop');
    const connected = await nextEvent(page, { type: 'gateway', state: 'connected' });
    const { ms } = await timed(Promise.all([cluster.worker(1).end('SIGTERM'), held, agent.closed]));
    assert.ok(ms < settledWithin, `left after ${Math.round(ms)} ms`);
    const { success, cancelled } = await held;
    assert.equal(success, false);
    assert.equal(cancelled, true, JSON.stringify(await held));
    await connected();
    const again = await cluster.agent(3);
    const { data } = await again.call('test.report', { callId: 'at the stop' });
    assert.deepEqual([data.started, data.aborted], [true, true]);
    await again.shutdown();
  } finally {
    await page.close();
  }
});
