import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ask } from '../gateway-runs/asking.mjs';
import { useCluster } from '../support/cluster.mjs';
import { cancelled } from '../support/lab.mjs';

const secrets = { app: 'for-apps', one: 'for-one', two: 'for-two', admin: 'for-admins' };
const tokens = [`app=${secrets.app}`, `agent=${secrets.one}`, `agent=${secrets.two}`, `admin=${secrets.admin}`];
// Foreign publishers do not name the requester. With tokens, their messages count only if that is
// allowed.
const cluster = useCluster({ args: [...tokens.flatMap((token) => ['--token', token]), '--require-requester', 'false'] });

before(async () => {
  await cluster.begun;
  await cluster.appPage(cluster.worker(1), 'lab', secrets.app);
});

/** Starts a call of an agent on worker 2, and looks up its run. @param {string} token @param {string} callId */
async function agentWithCall(token, callId) {
  const agent = await cluster.agent(2, 'lab', { token });
  const held = agent.call('test.hold', {}, { callId });
  await agent.call('test.started', { callId });
  const { json } = await ask(cluster.worker(2), `/api/runs/${callId}`, { token: secrets.admin });
  return {
    held,
    runId: /** @type {string} */ (json.runId),
    report: async () => (await agent.call('test.report', { callId })).data,
    release: () => agent.call('test.release', { callId }),
    leave: () => agent.shutdown(),
  };
}

/** Publishes a message once both workers listen. @param {object} message */
async function publish(message) {
  while (!(await cluster.redis.command('PUBSUB', 'NUMSUB', 'cancellation:cancel')).endsWith('2')) await pause(20);
  assert.equal(await cluster.redis.publishCancel(message), 2);
}

/** @param {Promise<any>} response */
async function isCancelled(response) {
  const { metadata: _, ...answer } = await response;
  assert.deepEqual(answer, cancelled);
}

test('a raw message on the channel stops the run in the page', { timeout: 60_000 }, async () => {
  for (const named of /** @type {const} */ (['runId', 'callId'])) {
    const callId = `by its ${named}`;
    const { held, runId, report, leave } = await agentWithCall(secrets.one, callId);
    await publish({ run_id: named === 'runId' ? runId : callId, reason: 'a word from outside' });
    await isCancelled(held);
    assert.deepEqual(await report(), { started: true, aborted: true, reason: 'a word from outside' });
    const { json } = await ask(cluster.worker(1), `/cancellation/status/${runId}`, { token: secrets.admin });
    assert.deepEqual([json.state, json.cancelled, json.cancel_reason], ['cancelled', true, 'a word from outside']);
    await leave();
  }
});

test('a message whose requester may not see the run leaves it alone', { timeout: 60_000 }, async () => {
  const mine = await agentWithCall(secrets.one, 'mine');
  const theirs = await agentWithCall(secrets.two, 'theirs');
  for (const requester of ['agent-2', 'app-0', 'anyone', 'nobody', '', null, 7]) {
    for (const run_id of [mine.runId, 'mine']) await publish({ run_id, reason: 'not mine', requester });
  }
  // Messages are handled in order. Once this message has had its effect, the earlier ones had none.
  await publish({ run_id: theirs.runId, reason: 'my own', requester: 'agent-2' });
  await isCancelled(theirs.held);
  assert.deepEqual(await mine.report(), { started: true, aborted: false });
  const { json } = await ask(cluster.worker(1), '/api/runs/mine', { token: secrets.admin });
  assert.deepEqual([json.state, json.cancelRequestedAt], ['running', null]);

  await publish({ run_id: mine.runId, reason: 'its owner', requester: 'agent-1' });
  await isCancelled(mine.held);
  await Promise.all([mine.leave(), theirs.leave()]);
});

test('malformed messages on the channel disturb nothing', { timeout: 60_000 }, async () => {
  const { held, release, leave } = await agentWithCall(secrets.one, 'undisturbed');
  for (const nonsense of ['', 'undisturbed', '{', '[]', 'null', '{"run_id":7}', '{"reason":"no id"}', `{"run_id":"${'x'.repeat(100_000)}"}`]) {
    await cluster.redis.command('PUBLISH', 'cancellation:cancel', nonsense);
  }
  const next = await agentWithCall(secrets.one, 'next');
  await publish({ run_id: 'next' });
  await isCancelled(next.held);
  await release();
  assert.deepEqual((await held).data, { released: true });
  await Promise.all([leave(), next.leave()]);
});

for (const [how, fail, heal] of /** @type {const} */ ([
  ['was killed', () => cluster.redis.kill(), () => cluster.redis.restart()],
  ['hung', () => cluster.redis.hang(), () => cluster.redis.goOn()],
])) {
  test(`the channel is obeyed again after Redis ${how}`, { timeout: 60_000 }, async () => {
    await fail();
    // Waits until both workers have noticed.
    for (const worker of cluster.workers) {
      while ((await ask(worker, '/readyz')).json.redis !== 'unreachable') await pause(20);
    }
    await heal();
    const { held, runId, leave } = await agentWithCall(secrets.one, `after it ${how}`);
    await publish({ run_id: runId, reason: null });
    await isCancelled(held);
    await leave();
  });
}

test("a cancel through a worker's own API is published, and says who asked", { timeout: 60_000 }, async () => {
  const { held, runId, leave } = await agentWithCall(secrets.one, 'published');
  const heard = await cluster.redis.hearCancel();
  const { json } = await ask(cluster.worker(1), '/cancellation/cancel', { token: secrets.admin, body: { requestId: runId, reason: 'told to all', stop: 'returned' } });
  assert.deepEqual(json, { status: 'cancelled', requestId: runId, reason: 'told to all', stop: 'returned' });
  const { run_id, reason, requester } = JSON.parse(await heard.message);
  assert.deepEqual({ run_id, reason, requester }, { run_id: runId, reason: 'told to all', requester: 'admin-3' });
  await isCancelled(held);
  await leave();
});
