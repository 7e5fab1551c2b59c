// A handler that never reads its signal, and the reports of its stop.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { connect, kinds } from '../mcp/clients.mjs';
import { runCommand, startCommand } from '../support/command-line.mjs';
import { inLab } from '../support/lab.mjs';
import { useLabWithGateway } from '../support/lab-gateway.mjs';

const lab = useLabWithGateway();
/** @type {import('puppeteer-core').Page} */
let page;
const begun = (/** @type {number} */ count) =>
  page.waitForFunction((wanted) => /** @type {any} */ (window).state.begun === wanted, { polling: 10 }, count);
const goOn = () => page.evaluate(() => /** @type {any} */ (window).state.goOn());
const counts = () => page.evaluate(() => /** @type {any} */ (window).state);

/** Returns the newest run once it fits. @param {(run: any) => boolean} fits */
async function newestRun(fits) {
  const end = Date.now() + 30_000;
  for (;;) {
    const { runs } = await (await fetch(`${lab.gateway.url}/api/runs`)).json();
    if (runs[0] && fits(runs[0])) return runs[0];
    if (Date.now() > end) throw new Error(`the run is ${JSON.stringify(runs[0])}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('a handler that never reads its signal', () => {
  after(() => page?.close());
  before(async () => {
    page = await lab.page();
    await inLab(page, async ({ newHost, join }, url) => {
      const host = await newHost();
      const state = { begun: 0, posted: 0, goOn() {} };
      const deaf = async () => {
        state.begun += 1;
        await new Promise((/** @type {(value: void) => void} */ resolve) => (state.goOn = resolve));
        state.posted += 1;
        return { posted: state.posted };
      };
      host.register('test.deaf', { description: 'Works until it is told to go on' }, deaf);
      host.register('test.patient', { description: 'The same, with time to end', settleGrace: 20_000 }, deaf);
      Object.assign(window, { state });
      await join(host, url);
    }, lab.urls.app);
  });

  test('the command line says that a handler which ends within its grace has completed', { timeout: 60_000 }, async () => {
    const before = await counts();
    const call = startCommand(lab.gateway, ['call', 'test.patient', '--app', 'lab', '--grace', '30s']);
    await begun(before.begun + 1);
    call.signal('SIGINT');
    await newestRun(({ state }) => state === 'cancelling');
    await goOn();
    const { status, out, err } = await call.ended;
    assert.deepEqual([status, JSON.parse(out)], [0, { posted: before.posted + 1 }]);
    assert.match(err, /Not cancelled: Operation already completed/);
    const run = await newestRun(({ state }) => state === 'completed');
    assert.deepEqual([run.stop, run.ended], [null, null]);
  });

  test('the command line says that a handler was not seen to stop', { timeout: 60_000 }, async () => {
    const before = await counts();
    const call = startCommand(lab.gateway, ['call', 'test.deaf', '--app', 'lab']);
    await begun(before.begun + 1);
    call.signal('SIGINT');
    const { status, out, err } = await call.ended;
    assert.deepEqual([status, out], [130, '']);
    assert.match(err, /\nCancelled, and confirmed by the app, but the work was not seen to stop; it may still go on\n$/);
    const run = await newestRun(({ state }) => state === 'cancelled');
    assert.equal(run.stop, 'abandoned');
    assert.match((await runCommand(lab.gateway, ['runs', '--limit', '1'])).out, /cancelled after .* \(abandoned: not seen to stop\)/);
    await goOn();
    assert.equal((await counts()).posted, before.posted + 1, 'it did go on');
    // Only the operator is left to learn of the end.
    const { ended } = await newestRun((it) => it.ended !== null);
    assert.equal(ended.success, true);
  });

  for (const kind of kinds.filter(({ era }) => era === 'legacy')) {
    test(`${kind.name}: the client learns of the end of an abandoned call`, { timeout: 60_000 }, async () => {
      const before = await counts();
      const { client, complaints } = await connect(kind, lab.gateway, { app: 'lab' });
      try {
        /** @type {Promise<any>} */
        const told = new Promise((resolve) => client.setNotificationHandler('notifications/message', ({ params }) => resolve(params)));
        const stop = new AbortController();
        const held = client.callTool({ name: 'test.deaf', arguments: {} }, { signal: stop.signal }).catch(() => {});
        await begun(before.begun + 1);
        stop.abort();
        await held;
        const cancelled = await newestRun(({ state }) => state === 'cancelled');
        assert.deepEqual([cancelled.stop, cancelled.ended], ['abandoned', null]);
        await goOn();
        const { level, logger, data } = await told;
        assert.deepEqual([level, logger, data.event, data.success], ['notice', 'caphost', 'notifications/call/ended', true]);
        assert.equal(String(data.requestId), cancelled.dialectId);
        const { ended } = await newestRun((run) => run.ended !== null);
        assert.deepEqual(ended, { success: true, after: data.after });
        assert.deepEqual(complaints, []);
      } finally {
        await client.close();
      }
    });

    test(`${kind.name}: a handler that ends within its grace has completed`, { timeout: 60_000 }, async () => {
      const before = await counts();
      const { client } = await connect(kind, lab.gateway, { app: 'lab' });
      try {
        const stop = new AbortController();
        const held = client.callTool({ name: 'test.patient', arguments: {} }, { signal: stop.signal }).catch(() => {});
        await begun(before.begun + 1);
        stop.abort();
        await held;
        await newestRun(({ state }) => state === 'cancelling');
        await goOn();
        assert.equal((await newestRun(({ state }) => state === 'completed')).stop, null);
      } finally {
        await client.close();
      }
    });
  }
});
