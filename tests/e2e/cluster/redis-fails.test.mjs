import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { connectWebSocket } from 'caphost/agent';
import { ask } from '../gateway-runs/asking.mjs';
import { nextEvent } from '../support/app-page.mjs';
import { useCluster } from '../support/cluster.mjs';
import { cancelled } from '../support/lab.mjs';
import { timed } from '../support/timing.mjs';

/** Milliseconds within which calls to another worker fail without Redis: the patience of 4 s, and a second for the rest. */
const failedWithin = 5_000;

const cluster = useCluster();
/** An agent of the app `near` on worker 1. The app `far` is on worker 2. @type {import('caphost/agent').Agent} */
let near;
/** @type {import('puppeteer-core').Page} */
let farPage;
before(async () => {
  await cluster.begun;
  [, farPage] = await Promise.all([cluster.appPage(cluster.worker(1), 'near'), cluster.appPage(cluster.worker(2), 'far')]);
  near = await cluster.agent(1, 'near');
});
after(() => near?.shutdown());

/** Starts a call of an agent on a worker. @param {string} app @param {string} callId @param {number} [number] */
async function agentWithCall(app, callId, number = 1) {
  const agent = await cluster.agent(number, app);
  const held = agent.call('test.hold', {}, { callId });
  await agent.call('test.started', { callId });
  return { agent, held };
}

/** Checks that everything within worker 1 works. @param {string} callId */
async function worksWithin(callId) {
  assert.deepEqual((await near.call('test.echo', { callId })).data, { callId });
  const { agent, held } = await agentWithCall('near', callId);
  assert.deepEqual(await agent.cancel(callId), { callId, cancelled: true, metadata: { stop: 'returned' } });
  const { metadata: _, ...response } = await held;
  assert.deepEqual(response, cancelled);
  const { data } = await near.call('test.report', { callId });
  assert.equal(data.aborted, true);
  await agent.shutdown();
}

/** Checks that calls between the workers work in both directions. */
async function worksAcross() {
  for (const [number, app] of /** @type {const} */ ([[1, 'far'], [2, 'near']])) {
    const agent = await cluster.agent(number, app);
    assert.deepEqual((await agent.call('test.echo', { app })).data, { app });
    await agent.shutdown();
  }
}

/**
 * Checks what every worker reports at the endpoints for supervisors.
 *
 * @param {{ status: string, redis: string, workers: number }} expected
 */
async function eachSays(expected) {
  for (const worker of cluster.workers) {
    const { status, json } = await ask(worker, '/readyz');
    assert.equal(status, 200, 'what is on one worker goes on');
    assert.deepEqual({ status: json.status, redis: json.redis, workers: json.workers }, expected);
    const metrics = await (await fetch(`${worker.url}/metrics`)).text();
    assert.match(metrics, new RegExp(`^caphost_redis_connected ${expected.redis === 'connected' ? 1 : 0}$`, 'm'));
  }
}

/** @type {Record<string, { fail: () => unknown, heal: () => unknown }>} */
const failures = {
  'is killed': { fail: () => cluster.redis.kill(), heal: () => cluster.redis.restart() },
  hangs: { fail: () => cluster.redis.hang(), heal: () => cluster.redis.goOn() },
};

for (const [how, { fail, heal }] of Object.entries(failures)) {
  test(`while Redis ${how}, calls within one worker continue, and calls between workers fail clearly`, { timeout: 90_000 }, async (t) => {
    await worksAcross();
    await eachSays({ status: 'ready', redis: 'connected', workers: 2 });
    const { agent: far, held } = await agentWithCall('far', `before it ${how}`);
    const stopped = await nextEvent(farPage, { type: 'call', callId: `before it ${how}`, state: 'cancelled' });
    // The call is sent before the agent can hear of the loss.
    const failed = fail();
    let failing = true;
    t.after(() => failing && heal());
    const lost = timed(Promise.all([held, far.call('test.echo', {})]));
    await failed;
    await worksWithin(`while it ${how}`);
    const { value, ms } = await lost;
    for (const { success, cancelled, error } of value) {
      assert.deepEqual([success, cancelled, error?.code], [false, undefined, 'DISCONNECTED']);
      assert.match(error?.message ?? '', /app .*(disconnected|was lost): the outcome is unknown/);
    }
    assert.ok(ms < failedWithin, `settled after ${Math.round(ms)} ms`);
    assert.equal(await far.closed, 'disconnected');
    // The app's worker knows as well that nobody waits for that call any more.
    await stopped();
    await eachSays({ status: 'degraded', redis: 'unreachable', workers: 1 });
    await assert.rejects(connectWebSocket(`${cluster.worker(1).wsUrl}/abp?app=far`), { code: 'DISCONNECTED', message: /Redis does not answer/ });
    await worksWithin(`still while it ${how}`);

    await heal();
    failing = false;
    await worksAcross();
    // The previous ids of the workers stay known for one more lease.
    for (const worker of cluster.workers) {
      while ((await ask(worker, '/readyz')).json.workers !== 2) await pause(20);
    }
    await eachSays({ status: 'ready', redis: 'connected', workers: 2 });
  });
}

test('calls between workers end as unknown when Redis restarts, the app stops them, and the next calls work', { timeout: 60_000 }, async () => {
  const { agent, held } = await agentWithCall('far', 'restarted');
  const stopped = await nextEvent(farPage, { type: 'call', callId: 'restarted', state: 'cancelled' });
  const waiting = Array.from({ length: 100 }, (_, index) => agent.call('test.hold', {}, { callId: `restarted ${index}` }));
  await cluster.redis.kill();
  const { value, ms } = await timed(Promise.all([held, ...waiting]));
  for (const { success, cancelled, error } of value) assert.deepEqual([success, cancelled, error?.code], [false, undefined, 'DISCONNECTED']);
  assert.ok(ms < failedWithin, `settled after ${Math.round(ms)} ms`);
  await stopped();
  await cluster.redis.restart();
  await worksAcross();
});

test('a call survives a Redis that hangs for a moment', { timeout: 60_000 }, async () => {
  const { agent, held } = await agentWithCall('far', 'outlasts');
  cluster.redis.hang();
  const echo = agent.call('test.echo', { text: 'sent while it hangs' });
  await worksWithin('while it hangs for a moment');
  cluster.redis.goOn();
  assert.deepEqual((await echo).data, { text: 'sent while it hangs' });
  assert.deepEqual(await agent.cancel('outlasts'), { callId: 'outlasts', cancelled: true, metadata: { stop: 'returned' } });
  assert.equal((await held).cancelled, true);
  await agent.shutdown();
});
