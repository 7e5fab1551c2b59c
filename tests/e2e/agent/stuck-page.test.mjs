import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { attach } from 'caphost/automation';
import { automationClients } from '../support/browsers.mjs';
import { serveFiles } from '../support/static-server.mjs';

/** Times in milliseconds. */
const [GRACE, TIMEOUT] = [500, 300];

for (const { name, launch } of automationClients) {
  describe(`a page that answers nothing, over ${name}`, () => {
    /** @type {Awaited<ReturnType<typeof launch>>} */
    let browser;
    /** @type {Awaited<ReturnType<typeof serveFiles>>} */
    let server;
    before(async () => {
      [browser, server] = await Promise.all([launch(), serveFiles()]);
    });
    after(async () => {
      await browser.close();
      await server.close();
    });

    /** @param {import('node:test').TestContext} t @returns {Promise<any>} */
    async function appPage(t) {
      const page = /** @type {any} */ (await browser.newPage());
      t.after(() => Promise.race([page.close().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 3_000))]));
      await page.goto(server.url('/host/'));
      await page.waitForSelector('html[data-ready]');
      await page.evaluate(() => {
        const { host } = /** @type {any} */ (window);
        // After the first await, the host cannot tell which job belongs to the handler.
        host.register('hold.later', {}, async () => {
          await null;
          for (const end = performance.now() + 4000; performance.now() < end;);
        });
        host.register('asks', {}, () => confirm('Shall it go on?'));
        host.register('waits', {}, () => new Promise(() => {}));
      });
      return page;
    }

    test('the timeout of a call or a cancel names its blocked thread, and the alternative', { timeout: 60_000 }, async (t) => {
      const agent = await attach(await appPage(t), { grace: GRACE });
      const call = agent.call('hold.later', {}, { timeout: TIMEOUT, callId: 'held' });
      const { error } = /** @type {any} */ (await call);
      assert.equal(error.code, 'TIMEOUT');
      assert.match(error.message, /outcome is unknown.*holds its thread.*worker/);
      const cancel = /** @type {any} */ (await agent.cancel('held'));
      if (cancel.error?.code === 'TIMEOUT') assert.match(cancel.error.message, /holds its thread/);
      assert.equal((await agent.call('test.echo', { a: 1 })).success, true);
    });

    test('no error mentions the thread of a page that answers', { timeout: 60_000 }, async (t) => {
      const page = await appPage(t);
      const agent = await attach(page, { grace: GRACE, terminate: false });
      const response = /** @type {any} */ (await agent.call('waits', {}, { timeout: TIMEOUT }));
      assert.equal(response.cancelled, true);
      assert.equal(response.error, undefined);
    });

    // Playwright dismisses dialogs by itself.
    if (name === 'Puppeteer') {
      test('the error names its open dialog', { timeout: 60_000 }, async (t) => {
        const page = await appPage(t);
        const agent = await attach(page, { grace: GRACE });
        const opened = new Promise((resolve) => page.once('dialog', resolve));
        const call = agent.call('asks', {}, { timeout: TIMEOUT });
        const dialog = /** @type {any} */ (await opened);
        const { error } = /** @type {any} */ (await call);
        assert.equal(error.code, 'TIMEOUT');
        assert.match(error.message, /dialog confirm\("Shall it go on\?"\)/);
        await dialog.accept();
        assert.equal((await agent.call('test.echo', { a: 1 })).success, true);
      });
    }
  });
}
