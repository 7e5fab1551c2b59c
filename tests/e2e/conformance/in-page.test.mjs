import { after, before, test } from 'node:test';
import { launchPuppeteer } from '../support/browsers.mjs';
import { runVector, vectors } from '../support/conformance.mjs';
import { serveFiles } from '../support/static-server.mjs';

/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;
/** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
let browser;

before(async () => {
  server = await serveFiles();
  browser = await launchPuppeteer();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

const PARAMS = {
  agent: { name: 'vectors', version: '1' },
  protocolVersion: '0.1',
  features: { notifications: true, progress: true, elicitation: true },
};

for (const vector of vectors()) {
  test(`in the page: ${vector.name}`, async () => {
    const page = await browser.newPage();
    try {
      await page.goto(server.url('/host/'));
      await page.waitForSelector('html[data-ready]');
      if (vector.session !== false) await page.evaluate((params) => /** @type {any} */ (window).abp.initialize(params), PARAMS);
      await runVector(
        vector,
        {
          call: (capability, params, options) =>
            page.evaluate((...args) => /** @type {any} */ (window).abp.call(...args), capability, params, options),
          cancel: (callId, reason) => page.evaluate((...args) => /** @type {any} */ (window).abp.cancel(...args), callId, reason),
          unordered: true,
          shutdown: () => page.evaluate(() => /** @type {any} */ (window).abp.shutdown()),
        },
        '',
      );
    } finally {
      await page.close();
    }
  });
}
