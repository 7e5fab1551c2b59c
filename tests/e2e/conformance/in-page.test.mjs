import { after, before, test } from 'node:test';
import { launchPuppeteer, reusedTab } from '../support/browsers.mjs';
import { endsTold, runInPage, runVector, vectors, vectorsWithout } from '../support/conformance.mjs';
import { serveFiles } from '../support/static-server.mjs';
import { INITIALIZE } from '../support/wire-driver.mjs';

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

/** Receives a notification in Node. Each vector sets it anew. @type {(notification: any) => void} */
let hearOf = () => {};

/** @typedef {import('puppeteer-core').Page} Page @typedef {import('../support/conformance.mjs').Vector} Vector */

/** The users of `window.abp`. @type {Record<string, { all: Vector[], run: (page: Page, vector: Vector) => Promise<void> }>} */
const users = {
  'a script of the page': { all: vectors(), run: async (page, vector) => {
    await page.evaluate(async () => {
      const { abp } = /** @type {any} */ (window);
      const { endsTold } = await import(`${location.origin}/conformance/ends.js`);
      const { hear, ended } = endsTold();
      Object.assign(globalThis, {
        __abp_notification: (/** @type {any} */ { event, data }) => hear(event, data),
        driver: {
          call: (/** @type {any[]} */ ...args) => abp.call(...args),
          cancel: (/** @type {any[]} */ ...args) => abp.cancel(...args),
          shutdown: () => abp.shutdown(),
          signals: true,
          ended,
        },
      });
    });
    await runInPage(page, vector);
  } },
  // Each evaluation is answered separately, so the order of the answers means nothing.
  'bare page.evaluate': { all: vectorsWithout('signals'), run: async (page, vector) => {
    const { hear, ended } = endsTold();
    hearOf = ({ event, data }) => hear(event, data);
    await page.evaluate(() => Object.assign(globalThis, { __abp_notification: (/** @type {any} */ it) => /** @type {any} */ (globalThis).tellTest(it) }));
    await runVector({ ...vector, steps: vector.steps.filter(({ order }) => !order) }, {
    // Passed as text, because an evaluation drops a property `__proto__` of its arguments.
    call: async (...args) => JSON.parse(await page.evaluate(
      async (text) => JSON.stringify(await /** @type {any} */ (window).abp.call(...JSON.parse(text).map((/** @type {any} */ it) => it ?? undefined))),
      JSON.stringify(args),
    )),
    cancel: (...args) => page.evaluate((...given) => /** @type {any} */ (window).abp.cancel(...given), ...args),
    shutdown: () => page.evaluate(() => /** @type {any} */ (window).abp.shutdown()),
    ended,
  });
  } },
};

const inTab = reusedTab(async () => {
  const page = await browser.newPage();
  await page.exposeFunction('tellTest', (/** @type {any} */ notification) => hearOf(notification));
  return page;
});

for (const [user, { all, run }] of Object.entries(users)) {
  for (const vector of all) {
    test(`window.abp used by ${user}: ${vector.name}`, { timeout: 30_000 }, () => inTab(async (page) => {
      await page.goto(server.url('/host/'));
      await page.waitForSelector('html[data-ready]');
      if (vector.session !== false) await page.evaluate((params) => /** @type {any} */ (window).abp.initialize(params), INITIALIZE);
      await run(page, vector);
    }));
  }
}
