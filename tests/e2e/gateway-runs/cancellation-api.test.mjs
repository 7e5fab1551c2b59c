import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useDemo } from '../support/demo.mjs';
import { becomes } from '../support/demo-page.mjs';
import { ask } from './asking.mjs';

const demo = useDemo();
const export400 = { megabytes: 400 };

/** Starts a long call of the agent, and waits until it runs in the page. @param {string} callId */
async function longCall(callId) {
  /** @type {any} */
  let response;
  await new Promise((resolve) => {
    response = demo.agent.call('export.archive', export400, { callId, onProgress: resolve });
  });
  return { response };
}

/** Waits until no call runs in the page. */
const idle = () =>
  demo.page.waitForFunction(() => ['running', 'queued'].every((state) => document.querySelector(`#counts [data-state=${state}] dd`)?.textContent === '0'));

test("cancelling an agent's call over HTTP stops its handler in the page", { timeout: 60_000 }, async () => {
  const { response } = await longCall('quarterly-orders');
  const running = await ask(demo.gateway, '/cancellation/status/quarterly-orders');
  assert.equal(running.status, 200);
  assert.equal(running.json.name, 'tool:export.archive');
  assert.equal(running.json.cancelled, false);
  assert.ok(Math.abs(running.json.registered_at - Date.now() / 1000) < 60, 'unix seconds');

  const body = { requestId: 'quarterly-orders', reason: 'wrong quarter' };
  const cancelled = await ask(demo.gateway, '/cancellation/cancel', { body });
  const { metadata, ...rest } = await response;
  assert.match(metadata?.step ?? '', /^(flag|signal)$/);
  assert.deepEqual(cancelled, { status: 200, json: { status: 'cancelled', ...body, ...metadata } });
  assert.deepEqual(rest, { success: false, cancelled: true });
  assert.equal(metadata?.stop, 'dropped');
  await becomes(demo.page, '.call[data-call-id="quarterly-orders"]', 'cancelled');
  await idle();

  // A repeated cancel gets the same answer, and so does the agent's own cancel.
  assert.deepEqual(await ask(demo.gateway, '/v1/cancellation/cancel', { body }), cancelled);
  assert.deepEqual(await demo.agent.cancel('quarterly-orders'), { callId: 'quarterly-orders', cancelled: true, metadata });
  const { json: ended } = await ask(demo.gateway, `/v1/cancellation/status/${running.json.run_id}`);
  assert.equal(ended.cancelled, true);
  assert.equal(ended.cancel_reason, 'wrong quarter');
  assert.ok(ended.cancelled_at >= ended.registered_at);
  assert.equal((await demo.agent.call('convert.markdownToHtml', { markdown: 'next' })).success, true);
});

test('a call that was cancelled in advance never reaches the page', { timeout: 60_000 }, async () => {
  // A cancel in advance is kept only for an id that cannot occur by chance.
  const notYet = crypto.randomUUID();
  const body = { request_id: notYet };
  const queued = await ask(demo.gateway, '/cancellation/cancel', { body });
  assert.deepEqual(queued.json, { status: 'queued', requestId: notYet, reason: null });
  const answer = await demo.agent.call('export.archive', export400, { callId: notYet });
  assert.deepEqual(answer, { success: false, cancelled: true, metadata: { stop: 'never-started' } });
  const again = await ask(demo.gateway, '/cancellation/cancel', { body });
  assert.equal(again.json.status, 'cancelled');
  assert.equal((await demo.agent.call('convert.markdownToHtml', { markdown: 'next' })).success, true);
  assert.equal(await demo.page.$(`.call[data-call-id="${notYet}"]`), null);
});

test('an early cancel of an id that several clients may use reaches no call', { timeout: 60_000 }, async () => {
  const queued = await ask(demo.gateway, '/cancellation/cancel', { body: { requestId: '2' } });
  assert.equal(queued.json.status, 'queued');
  const answer = await demo.agent.call('convert.markdownToHtml', { markdown: 'mine' }, { callId: '2' });
  assert.equal(answer.success, true);
});

test('a completed call stays completed', { timeout: 60_000 }, async () => {
  const completed = await demo.agent.call('convert.markdownToHtml', { markdown: 'done' }, { callId: 'done' });
  assert.equal(completed.success, true);
  const cancelled = await ask(demo.gateway, '/cancellation/cancel', { body: { requestId: 'done' } });
  assert.deepEqual(cancelled.json, { status: 'completed', requestId: 'done', reason: null });
  const { json: status } = await ask(demo.gateway, '/cancellation/status/done');
  assert.equal(status.state, 'completed');
});
