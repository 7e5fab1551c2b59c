import { connectWebSocket } from 'caphost/agent';
import { attach } from 'caphost/automation';
import { after, before, test } from 'node:test';
import { launchFirefox, reusedTab } from '../support/browsers.mjs';
import { endsTold, runInPage, runVector, vectors } from '../support/conformance.mjs';
import { useLabWithGateway } from '../support/lab-gateway.mjs';
import { inLab } from '../support/lab.mjs';
import { INITIALIZE } from '../support/wire-driver.mjs';

/** @typedef {import('../support/conformance.mjs').Vector} Vector */
/** @typedef {import('puppeteer-core').Page} Page */

const lab = useLabWithGateway();
/** @type {Awaited<ReturnType<typeof launchFirefox>>} */
let firefox;
before(async () => {
  firefox = await launchFirefox();
});
after(() => firefox?.close());

/** The function that works in a tab of each browser. Undefined if the browser is not installed. @type {Record<string, () => ReturnType<typeof reusedTab<Page>> | undefined>} */
const tabs = {
  Chromium: () => inChromium,
  Firefox: () => firefox && inFirefox,
};
const inChromium = reusedTab(() => lab.browser.newPage());
const inFirefox = reusedTab(() => /** @type {NonNullable<typeof firefox>} */ (firefox).newPage());

/**
 * Adapts a vector to workers. A handler that ignores its signal, or never learns of it, is terminated
 * in a worker: it is not abandoned, has no effect, and there is no later end to report. A worker also
 * needs more than a turn, or a few milliseconds, to start and to receive a message.
 *
 * @param {Vector} vector
 * @returns {Vector}
 */
function inWorkers(vector) {
  const release = vector.steps.find(({ as }) => as === 'release');
  const steps = vector.steps.filter(({ ended }) => !ended).map((step) => {
    if (step.turn && release) return { settles: 'release', with: { success: true, data: { $any: true } } };
    // The handler continues for longer than its grace.
    if (step.params?.after === 200) return { ...step, params: { after: 60_000 } };
    return step.options?.timeout === 40 ? { ...step, options: { ...step.options, timeout: 1000 } } : step;
  });
  const text = JSON.stringify(steps);
  if (!text.includes('"stop":"abandoned"')) return { ...vector, steps };
  const ended = text
    .replaceAll('"stop":"abandoned"', '"stop":"terminated"')
    .replaceAll(/,"ended":\{"success":true,"after":\{"\$any":true\}\}/g, '')
    .replaceAll('"effect":true', '"effect":{"$absent":true}');
  return { ...vector, steps: JSON.parse(ended) };
}

/** @param {Page} page @param {boolean} session whether `window.abp` has one @param {string} [gateway] */
async function host(page, session, gateway) {
  await inLab(page, async ({ createHost, join }, params, gateway) => {
    const { registerInWorkers } = await import(`${location.origin}/workers/vector-capabilities.js`);
    const host = await createHost({ app: { id: 'lab', name: 'Workers', version: '1.0.0' } });
    await registerInWorkers(host);
    Object.assign(globalThis, { host });
    host.expose(window);
    host.acceptMessages();
    if (params) await /** @type {any} */ (globalThis).abp.initialize(params);
    if (gateway) await join(host, gateway);
  }, session ? INITIALIZE : undefined, gateway);
}

/** A driver for an agent of this package. @param {(options: object) => Promise<any>} connect */
async function driverOf(connect) {
  const { hear, ended } = endsTold();
  const agent = await connect({ onNotification: hear });
  return {
    call: (/** @type {any[]} */ ...args) => agent.call(...args),
    cancel: (/** @type {any[]} */ ...args) => agent.cancel(...args),
    shutdown: () => agent.shutdown(),
    signals: true,
    ended,
  };
}

/** The ways to reach a host with workers. @type {Record<string, { all: Vector[], run: (page: Page, vector: Vector) => Promise<void> }>} */
const ways = {
  'window.abp': { all: vectors(), run: async (page, vector) => {
    await host(page, vector.session !== false);
    await page.evaluate(() => {
      const { abp } = /** @type {any} */ (globalThis);
      const driver = { call: (/** @type {any[]} */ ...args) => abp.call(...args), cancel: (/** @type {any[]} */ ...args) => abp.cancel(...args), shutdown: () => abp.shutdown(), signals: true };
      Object.assign(globalThis, { driver });
    });
    await runInPage(page, vector);
  } },
  'a MessagePort': { all: vectors().filter(({ session }) => session !== false), run: async (page, vector) => {
    await host(page, false);
    await inLab(page, async ({ connect }) => {
      const agent = await connect(/** @type {any} */ (globalThis).host);
      const driver = { call: (/** @type {any[]} */ ...args) => agent.call(...args), cancel: (/** @type {any[]} */ ...args) => agent.cancel(...args), shutdown: () => agent.shutdown(), signals: true };
      Object.assign(globalThis, { driver });
    });
    await runInPage(page, vector);
  } },
  'a frame': { all: vectors().filter(({ session }) => session !== false), run: async (page, vector) => {
    await host(page, false);
    await inLab(page, async ({ frame }) => {
      const element = await frame('/lab/');
      const { contentWindow, contentDocument } = element;
      while (!contentDocument.documentElement.dataset.ready) await new Promise((resolve) => setTimeout(resolve, 5));
      const agent = await contentWindow.lab.agents.connectWindow(window, { origin: location.origin });
      const driver = { call: (/** @type {any[]} */ ...args) => agent.call(...args), cancel: (/** @type {any[]} */ ...args) => agent.cancel(...args), shutdown: () => agent.shutdown(), signals: true };
      Object.assign(globalThis, { driver });
    });
    await runInPage(page, vector);
  } },
  'attach() through Puppeteer': { all: vectors().filter(({ session }) => session !== false), run: async (page, vector) => {
    await host(page, false);
    await runVector(vector, await driverOf((options) => attach(page, { agent: { name: 'vectors', version: '1' }, ...options })));
  } },
  'WebSocket, through the gateway': { all: vectors().filter(({ session }) => session !== false), run: async (page, vector) => {
    await host(page, false, lab.urls.app);
    await runVector(vector, await driverOf((options) => connectWebSocket(lab.urls.agent, options)));
  } },
};

/** In Firefox only ways within a page run: beyond the page, nothing depends on the browser. @param {string} way */
const browsersOf = (way) => (/window\.abp|MessagePort|frame/.test(way) ? ['Chromium', 'Firefox'] : ['Chromium']);

const tests = Object.entries(ways).flatMap(([way, { all, run }]) => browsersOf(way).map((browser) => ({ way, all, run, browser })));
for (const { way, all, run, browser } of tests) {
  for (const vector of all) {
    test(`capabilities in workers over ${way}, in ${browser}: ${vector.name}`, { timeout: 30_000 }, async (context) => {
      const inTab = tabs[browser]?.();
      if (!inTab) return context.skip('there is no such browser here');
      await inTab(async (page) => {
        await page.goto(lab.server.url('/lab/'));
        await page.waitForSelector('html[data-ready]');
        await run(page, inWorkers(vector));
      });
    });
  }
}
