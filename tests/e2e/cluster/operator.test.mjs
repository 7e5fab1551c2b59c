import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ask } from '../gateway-runs/asking.mjs';
import { useCluster } from '../support/cluster.mjs';
import { runCommand, startCommand } from '../support/command-line.mjs';
import { click, press, reads } from '../support/hands.mjs';
import { cancelled } from '../support/lab.mjs';
import { agentOf } from '../support/workers.mjs';

/** @param {Promise<any>} response */
async function isCancelled(response) {
  const { metadata: _, ...answer } = await response;
  assert.deepEqual(answer, cancelled);
}

for (const count of [2, 4]) {
  // With two workers, one has the app and the other the agent. With four, two workers have neither.
  const asking = Array.from({ length: count - 1 }, (_, index) => index + 2);

  describe(`an operator of ${count} workers`, () => {
    const cluster = useCluster({ workers: count });
    /** @type {import('puppeteer-core').Page} */
    let page;
    /** @type {import('caphost/agent').Agent} */
    let agent;
    before(async () => {
      await cluster.begun;
      page = await cluster.appPage(cluster.worker(1));
      agent = await cluster.agent(2);
      // Every worker has learned of the app.
      for (const number of asking) await (await cluster.agent(number)).shutdown();
    });

    /** A call of the agent. @param {string} callId */
    const hold = (callId) => agent.call('test.hold', {}, { callId });
    /** @param {string} callId @returns {Promise<any>} */
    const report = async (callId) => (await agent.call('test.report', { callId })).data;

    test('gets the manifest of the page from each worker', async () => {
      const { json: own } = await ask(cluster.worker(1), '/abp.json?app=lab');
      assert.deepEqual(own.app, { id: 'lab', name: 'lab', version: '1' });
      assert.deepEqual(own.capabilities, await page.evaluate(() => /** @type {any} */ (globalThis).host.manifest().capabilities));
      for (const number of asking) assert.deepEqual(await ask(cluster.worker(number), '/abp.json?app=lab'), { status: 200, json: own });
    });

    test('sees each run once on every worker, and cancels it from any', async () => {
      for (const number of asking) {
        const worker = cluster.worker(number);
        const callId = `from ${number}`;
        const response = hold(callId);
        await agent.call('test.started', { callId });
        const { json: run } = await ask(worker, `/api/runs/${callId}`);
        assert.deepEqual([run.state, run.app, run.capability], ['running', 'lab', 'test.hold']);
        for (const other of cluster.workers) {
          const { json } = await ask(other, '/api/runs');
          assert.deepEqual(json.runs.filter((/** @type {any} */ it) => it.callId === callId), [run]);
        }
        const answer = await ask(worker, `/api/runs/${run.runId}/cancel`, { body: { reason: 'seen from afar' } });
        assert.deepEqual(answer, { status: 200, json: { runId: run.runId, cancelled: true, stop: 'returned' } });
        await isCancelled(response);
        assert.deepEqual(await report(callId), { started: true, aborted: true, reason: 'seen from afar' });
        for (const other of cluster.workers) {
          const { json } = await ask(other, `/cancellation/status/${callId}`);
          assert.deepEqual([json.run_id, json.state, json.cancel_reason], [run.runId, 'cancelled', 'seen from afar']);
        }
      }
    });

    test('cancels a call that has not come yet, on whichever worker it comes', async () => {
      let last = '';
      for (const worker of cluster.workers) {
        // A cancel in advance is kept only for an id that cannot occur by chance.
        const body = { requestId: crypto.randomUUID(), reason: 'in advance' };
        last = body.requestId;
        const { json } = await ask(cluster.worker(count), '/cancellation/cancel', { body });
        assert.deepEqual(json, { status: 'queued', ...body });
        const early = await agentOf(worker, 'lab');
        await isCancelled(early.call('test.hold', {}, { callId: body.requestId }));
        await early.shutdown();
        for (const asked of cluster.workers) {
          assert.equal((await ask(asked, '/cancellation/cancel', { body })).json.status, 'cancelled');
        }
      }
      // The worker that was asked knows of the cancel at once.
      const { started } = await report(last);
      assert.equal(started, false);
    });

    test('watches and cancels a run on the page of runs of each worker', { timeout: 60_000 }, async () => {
      for (const number of asking) {
        const runs = await cluster.lab.browser.newPage();
        await runs.goto(`${cluster.worker(number).url}/runs`);
        await runs.waitForSelector('#link[data-state=live]');
        const response = hold(`shown on ${number}`);
        const card = `.run[data-dialect-id="shown on ${number}"]`;
        await runs.waitForSelector(`${card}[data-state=running]`);
        await click(runs, `${card} .cancel`);
        await press(runs, `${card} .cancel-form input`, 'Enter');
        await isCancelled(response);
        await runs.waitForSelector(`${card}[data-state=cancelled] .verdict[data-verdict=agree]`, { visible: true });
        await reads(runs, card, /^test\.hold\s+Cancelled/);
        await runs.close();
      }
    });

    test('lists, calls, watches and cancels with the command line on each worker', { timeout: 60_000 }, async () => {
      for (const number of asking) {
        const worker = cluster.worker(number);
        const list = await runCommand(worker, ['list', '--json']);
        assert.equal(list.status, 0, list.err);
        const { app, capabilities } = JSON.parse(list.out);
        assert.equal(app.id, 'lab');
        assert.ok(capabilities.some((/** @type {any} */ it) => it.name === 'test.echo'));

        const called = await runCommand(worker, ['call', 'test.echo', '--params', `{"number":${number}}`]);
        assert.equal(called.status, 0, called.err);
        assert.deepEqual(JSON.parse(called.out), { number });

        const callId = `command ${number}`;
        const calling = startCommand(worker, ['call', 'test.hold', '--call-id', callId, '--json']);
        await agent.call('test.started', { callId });
        // Asks the worker that has the app. It has not carried this call.
        const runs = JSON.parse((await runCommand(cluster.worker(1), ['runs', '--json'])).out).runs;
        assert.equal(runs.find((/** @type {any} */ it) => it.callId === callId).state, 'running');
        const cancel = await runCommand(cluster.worker(1), ['cancel', callId, '--reason', 'typed', '--json']);
        assert.equal(cancel.status, 0, cancel.err);
        assert.equal(JSON.parse(cancel.out).cancelled, true);
        const ended = await calling.ended;
        assert.equal(ended.status, 130, ended.err);
        assert.deepEqual(JSON.parse(ended.out), { callId, success: false, cancelled: true, metadata: { stop: 'returned' } });
        assert.equal((await report(callId)).reason, 'typed');
      }
    });
  });
}
