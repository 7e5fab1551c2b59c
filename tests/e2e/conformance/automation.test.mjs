import { attach } from 'caphost/automation';
import { after, before, test } from 'node:test';
import { launchPlaywright, launchPuppeteer, reusedTab } from '../support/browsers.mjs';
import { endsTold, runVector, vectorsInSession } from '../support/conformance.mjs';
import { serveFiles } from '../support/static-server.mjs';

/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;
before(async () => {
  server = await serveFiles();
});
after(() => server?.close());

for (const [library, launch] of /** @type {const} */ ([['Puppeteer', launchPuppeteer], ['Playwright', launchPlaywright]])) {
  /** @type {Awaited<ReturnType<typeof launch>>} */
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser?.close());
  const inTab = reusedTab(() => /** @type {Promise<any>} */ (browser.newPage()));

  for (const vector of vectorsInSession()) {
    test(`attach() through ${library}: ${vector.name}`, { timeout: 30_000 }, () => inTab(async (page) => {
      await page.goto(server.url('/host/'));
      const { hear, ended } = endsTold();
      const agent = await attach(page, { agent: { name: 'vectors', version: '1' }, onNotification: hear });
      await runVector(
        vector,
        {
          call: (capability, params, options) => agent.call(capability, /** @type {any} */ (params), options),
          cancel: (callId, reason) => agent.cancel(callId, reason),
          shutdown: () => agent.shutdown(),
          signals: true,
          ended,
        },
      );
      await agent.shutdown();
    }));
  }
}
