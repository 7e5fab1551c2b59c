import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { attach } from 'caphost/automation';
import { WITHOUT_LIMITS, burst, kindsOfHandlers } from '../fixtures/lab/bursts.js';
import { launchFirefox, launchPuppeteer } from '../support/browsers.mjs';
import { serveFiles } from '../support/static-server.mjs';

const MANY = 5_000;

/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;
before(async () => {
  server = await serveFiles();
});
after(() => server?.close());

/** @param {NonNullable<Awaited<ReturnType<typeof launchFirefox>>>} browser */
async function labPage(browser) {
  const page = await browser.newPage();
  await page.goto(server.url('/lab/'));
  await page.waitForSelector('html[data-ready]');
  return page;
}

for (const [name, launch] of Object.entries({ Chromium: launchPuppeteer, Firefox: launchFirefox })) {
  describe(`in ${name}`, () => {
    /** @type {Awaited<ReturnType<typeof launchFirefox>>} */
    let browser;
    before(async () => {
      browser = await launch();
    });
    after(() => browser?.close());

    test('thousands of calls of one turn are all answered for any behaviour of their handlers, and the host continues', { timeout: 120_000 }, async (t) => {
      if (!browser) return t.skip('there is no such browser here');
      const page = await labPage(browser);
      const seen = await page.evaluate(async (many) => {
        const { newHost, inPage, connect } = /** @type {any} */ (globalThis).lab;
        const path = '/lab/bursts.js';
        const { WITHOUT_LIMITS, burst, kindsOfHandlers, offerKinds } = await import(path);
        const host = await newHost(WITHOUT_LIMITS);
        /** @type {any} */
        const at = { abp: await inPage(host) };
        const kinds = kindsOfHandlers(at);
        const port = await connect(host);
        /** @type {Record<string, string>} */
        const seen = {};
        // This is the first schema of the page, so the calls arrive while the validator loads.
        offerKinds(host, kinds);
        seen['while the validator loads'] = await burst(port, 'has a schema', kinds['has a schema'], many);
        for (const [name, kind] of /** @type {[string, any][]} */ (Object.entries(kinds))) {
          seen[`${name}, in the page`] = await burst(at.abp, name, kind, many);
          if (!kind.inPageOnly) seen[`${name}, over a port`] = await burst(port, name, kind, many);
        }
        seen.after = (await at.abp.call('test.echo', { a: 1 })).data.a;
        return seen;
      }, MANY);
      const { after: echo, ...bursts } = seen;
      assert.equal(echo, 1);
      assert.equal(Object.keys(bursts).length, 21);
      for (const [what, found] of Object.entries(bursts)) assert.equal(found, `${MANY} as expected`, what);
    });

    test('when a handler exhausts the stack within its host, everybody is told, even if the console throws', { timeout: 60_000 }, async (t) => {
      if (!browser) return t.skip('there is no such browser here');
      const page = await labPage(browser);
      const seen = await page.evaluate(async () => {
        console.error = () => {
          throw new Error('console.error throws');
        };
        const { newHost, inPage, connect } = /** @type {any} */ (globalThis).lab;
        const path = '/lab/exhausted.js';
        const { exhaust } = await import(path);
        const host = await newHost();
        return exhaust(host, [await inPage(host), await connect(host)]);
      });
      assert.deepEqual(seen, { codes: Array(3).fill('INTERNAL_ERROR'), later: Array(4).fill('INTERNAL_ERROR'), aborted: true, lost: true });
    });
  });
}

test('thousands of calls of one turn are all answered over attach, and the page continues', { timeout: 300_000 }, async (t) => {
  const browser = await launchPuppeteer();
  t.after(() => browser.close());
  const page = await labPage(/** @type {any} */ (browser));
  await page.evaluate(async (options) => {
    const { newHost } = /** @type {any} */ (globalThis).lab;
    const path = '/lab/bursts.js';
    const { kindsOfHandlers, offerKinds } = await import(path);
    const host = await newHost(options);
    offerKinds(host, kindsOfHandlers({}));
    host.expose();
  }, { ...WITHOUT_LIMITS, maxRequestsPerSecond: Number.MAX_VALUE });
  const agent = await attach(/** @type {any} */ (page));
  const kinds = kindsOfHandlers({});
  for (const name of ['answers at once', 'throws', 'reports progress', 'calls another']) {
    assert.equal(await burst(agent, name, /** @type {any} */ (kinds[name]), MANY), `${MANY} as expected`, name);
  }
  const later = await agent.call('answers at once', { n: 1 });
  assert.equal(later.data, 1);
  await agent.shutdown();
});
