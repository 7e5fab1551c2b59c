import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectWebSocket } from 'caphost/agent';
import { attach } from 'caphost/automation';
import { launchPlaywright, launchPuppeteer } from '../support/browsers.mjs';
import { startGateway } from '../support/gateway.mjs';
import { serveFiles } from '../support/static-server.mjs';
import { codeOf, confirmed } from './pages.mjs';

/** Milliseconds that the app has to confirm a cancel, and milliseconds for which the app is blocked. */
const [GRACE, STANDS_STILL] = [200, 1200];

/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;
before(async () => {
  server = await serveFiles();
});
after(() => server.close());

const standStill = (/** @type {number} */ milliseconds) => void setTimeout(() => {
  for (const end = performance.now() + milliseconds; performance.now() < end;);
});

/** @type {[string, () => Promise<any>][]} */
const clients = [['Puppeteer', launchPuppeteer], ['Playwright', launchPlaywright]];
for (const [client, launch] of clients) {
  for (const way of ['attach', 'connectWebSocket']) {
    test(`after a blocked page over ${client} continues, a repeated cancel gets its late confirmation, over ${way}`, async (t) => {
      const browser = await launch();
      t.after(() => browser.close());
      const gateway = way === 'connectWebSocket' ? await startGateway({ args: ['--allow-origin', server.origin] }) : undefined;
      t.after(() => gateway?.stop());
      const page = await browser.newPage();
      await page.goto(server.url(gateway ? `/host/?gateway=${gateway.wsUrl}/abp/app` : '/host/'));
      await page.waitForSelector('html[data-ready]');
      if (gateway) await page.waitForFunction(() => /** @type {any} */ (window).gatewayConnected);
      const agent = gateway
        ? await connectWebSocket(`${gateway.wsUrl}/abp?app=test-host`, { grace: GRACE })
        : await attach(page, { grace: GRACE, terminate: false });
      const stop = new AbortController();
      const held = agent.call('test.hold', {}, { callId: 'held' });
      const aborted = agent.call('test.hold', {}, { callId: 'aborted', signal: stop.signal });
      for (const callId of ['held', 'aborted']) await agent.call('test.started', { callId });

      await page.evaluate(standStill, STANDS_STILL);
      await new Promise((resolve) => setTimeout(resolve, 50));
      stop.abort();
      const first = await agent.cancel('held');
      assert.deepEqual([first.cancelled, first.reason, codeOf(first)], [false, 'No confirmation from the app', 'TIMEOUT']);
      assert.deepEqual([codeOf(await held), codeOf(await aborted)], ['TIMEOUT', 'TIMEOUT']);

      // Asks again while the page is still blocked, or after that.
      assert.deepEqual(await agent.cancel('aborted').then(({ cancelled }) => cancelled), false);
      assert.equal((await agent.call('test.echo', { a: 1 })).success, true);
      for (const callId of ['held', 'aborted']) {
        for (const again of [1, 2]) assert.deepEqual(await agent.cancel(callId), confirmed(callId, 'returned'), `${callId}, ${again}`);
      }
      await agent.shutdown();
    });
  }
}
