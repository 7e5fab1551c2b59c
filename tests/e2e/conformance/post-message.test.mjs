import { after, before, test } from 'node:test';
import { launchPuppeteer, reusedTab } from '../support/browsers.mjs';
import { runInPage, vectorsInSession, vectorsWithout } from '../support/conformance.mjs';
import { serveFiles } from '../support/static-server.mjs';
import { INITIALIZE } from '../support/wire-driver.mjs';

/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let parents;
/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let apps;
/** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
let browser;

before(async () => {
  parents = await serveFiles();
  apps = await serveFiles();
  browser = await launchPuppeteer();
});
after(async () => {
  await browser?.close();
  await parents?.close();
  await apps?.close();
});

/** The ways in which an agent of this package connects to a host in the page. @type {Record<string, (page: import('puppeteer-core').Page) => Promise<unknown>>} */
const ways = {
  'connectWindow to a frame of another origin': (page) =>
    page.evaluate(
      async (src, origin) => {
        const it = /** @type {any} */ (window);
        const { contentWindow } = await it.frame(src);
        it.driver = await it.agentDriver((/** @type {any} */ options) => it.agents.connectWindow(contentWindow, { origin, ...options }));
      },
      `${apps.url('/host/')}?origins=${parents.origin}`,
      apps.origin,
    ),
  'connectPort to a port of a host in the page': (page) =>
    page.evaluate(async () => {
      const it = /** @type {any} */ (window);
      const port = await it.localPort();
      it.driver = await it.agentDriver((/** @type {any} */ options) => it.agents.connectPort(port, options));
    }),
  'connectPort to a Worker': (page) =>
    page.evaluate(async () => {
      const it = /** @type {any} */ (window);
      it.driver = await it.agentDriver((/** @type {any} */ options) => it.agents.connectPort(it.worker(), options));
    }),
};

for (const [way, connect] of Object.entries(ways)) {
  for (const vector of vectorsInSession()) {
    test(`${way}: ${vector.name}`, { timeout: 30_000 }, () =>
      inParent(async (page) => {
        await connect(page);
        await runInPage(page, vector);
      }));
  }
}

for (const vector of vectorsWithout('signals')) {
  test(`a plain agent on window.postMessage: ${vector.name}`, { timeout: 30_000 }, () =>
    inParent(async (page) => {
      await page.evaluate(
        async (src, origin) => {
          const it = /** @type {any} */ (window);
          const { contentWindow } = await it.frame(src);
          // A plain agent waits for the app to appear. This app says so when asked.
          it.plain = it.plainAgent(contentWindow, origin);
          it.driver = it.plainDriver(it.plain);
        },
        `${apps.url('/host/')}?origins=${parents.origin}`,
        apps.origin,
      );
      const frame = page.frames().find((it) => it.url().startsWith(apps.origin));
      await frame?.waitForSelector('html[data-ready]');
      if (vector.session !== false) await page.evaluate((params) => /** @type {any} */ (window).plain.request('initialize', params), INITIALIZE);
      await runInPage(page, vector);
    }));
}

const inTab = reusedTab(() => browser.newPage());

/** @param {(page: import('puppeteer-core').Page) => Promise<void>} work */
function inParent(work) {
  return inTab(async (page) => {
    await page.goto(parents.url('/parent/'));
    await page.waitForSelector('html[data-ready]');
    await work(page);
  });
}
