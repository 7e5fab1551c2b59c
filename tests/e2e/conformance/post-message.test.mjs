import { after, before, test } from 'node:test';
import { launchPuppeteer } from '../support/browsers.mjs';
import { runVector, vectors } from '../support/conformance.mjs';
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

const agent = { name: 'vectors', version: '1' };

/** How an agent of ours comes by a host, in the page. @type {Record<string, (page: import('puppeteer-core').Page) => Promise<unknown>>} */
const ways = {
  'connectWindow to a frame of another origin': (page) =>
    page.evaluate(
      async (src, origin, options) => {
        const it = /** @type {any} */ (window);
        const { contentWindow } = await it.frame(src);
        it.agent = await it.agents.connectWindow(contentWindow, { origin, agent: options });
      },
      `${apps.url('/host/')}?origins=${parents.origin}`,
      apps.origin,
      agent,
    ),
  'connectPort to a Worker': (page) =>
    page.evaluate(async (options) => {
      const it = /** @type {any} */ (window);
      it.agent = await it.agents.connectPort(it.worker(), { agent: options });
    }, agent),
};

for (const [way, connect] of Object.entries(ways)) {
  for (const vector of vectors().filter(({ session }) => session !== false)) {
    test(`${way}: ${vector.name}`, () =>
      inParent(async (page) => {
        await connect(page);
        await runVector(
          vector,
          {
            call: (...args) => page.evaluate((...given) => /** @type {any} */ (window).agent.call(...given), ...args),
            cancel: (...args) => page.evaluate((...given) => /** @type {any} */ (window).agent.cancel(...given), ...args),
            shutdown: () => page.evaluate(() => /** @type {any} */ (window).agent.shutdown()),
            unordered: true,
          },
          '',
        );
      }));
  }
}

for (const vector of vectors()) {
  test(`a plain agent on window.postMessage: ${vector.name}`, () =>
    inParent(async (page) => {
      await page.evaluate(
        async (src, origin) => {
          const it = /** @type {any} */ (window);
          const { contentWindow } = await it.frame(src);
          // A plain agent waits for the app to be there; this app says so when asked.
          it.plain = it.plainAgent(contentWindow, origin);
        },
        `${apps.url('/host/')}?origins=${parents.origin}`,
        apps.origin,
      );
      const frame = page.frames().find((it) => it.url().startsWith(apps.origin));
      await frame?.waitForSelector('html[data-ready]');
      /** @param {string} type @param {any} payload */
      const request = (type, payload) =>
        page.evaluate((...args) => /** @type {any} */ (window).plain.request(...args), type, payload);
      if (vector.session !== false) await request('initialize', INITIALIZE);
      await runVector(
        vector,
        {
          call: (capability, params, options) => request('capabilities/call', { capability, params, options }),
          cancel: (callId, reason) => request('capabilities/cancel', { callId, reason }),
          shutdown: () => request('shutdown', {}),
          unordered: true,
        },
        '',
      );
    }));
}

/** @param {(page: import('puppeteer-core').Page) => Promise<void>} work */
async function inParent(work) {
  const page = await browser.newPage();
  try {
    await page.goto(parents.url('/parent/'));
    await page.waitForSelector('html[data-ready]');
    await work(page);
  } finally {
    await page.close();
  }
}
