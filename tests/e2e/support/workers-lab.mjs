import { after, before } from 'node:test';
import { launchFirefox, launchPuppeteer, reusedTab } from './browsers.mjs';
import { rustAppFolder } from './rust-app.mjs';
import { serveFiles } from './static-server.mjs';
import { launchWebKit } from './webkit.mjs';

/** @typedef {import('puppeteer-core').Page} Page */

/** The headers that make a page cross-origin isolated. */
export const ISOLATED = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };

/** The places where workers are stopped: with and without the flag in shared memory. */
export const places = [
  { name: 'Chromium', isolated: false },
  { name: 'Chromium, isolated', isolated: true },
  { name: 'Firefox', isolated: false },
  { name: 'Firefox, isolated', isolated: true },
  { name: 'WebKit', isolated: false },
  { name: 'WebKit, isolated', isolated: true },
];

/**
 * Browsers, servers and pages of the lab for the tests of one file.
 *
 * @param {object} [options]
 * @param {boolean} [options.rust] whether to serve the Rust app too
 */
export function useWorkers({ rust = false } = {}) {
  /** @type {Record<string, Awaited<ReturnType<typeof serveFiles>>>} */
  const servers = {};
  /** @type {Record<string, { newPage: () => Promise<any>, close: () => Promise<void> } | undefined>} */
  const browsers = {};
  /** @type {Record<string, ReturnType<typeof reusedTab<any>>>} */
  const tabs = {};
  before(async () => {
    /** @type {Record<string, string>} */
    const folders = rust ? { '/rust-app-build/': rustAppFolder() } : {};
    [servers.plain, servers.isolated, browsers.Chromium, browsers.Firefox, browsers.WebKit] = await Promise.all([
      serveFiles({ folders }),
      serveFiles({ folders, headers: ISOLATED }),
      launchPuppeteer(),
      launchFirefox(),
      launchWebKit(),
    ]);
  });
  after(async () => {
    await Promise.all(Object.values(browsers).map((browser) => browser?.close()));
    await Promise.all(Object.values(servers).map((server) => server.close()));
  });

  return {
    /** @param {boolean} isolated */
    server: (isolated) => /** @type {Awaited<ReturnType<typeof serveFiles>>} */ (isolated ? servers.isolated : servers.plain),
    /**
     * Runs a function in a new document that has `lab`, in a reused tab. Skips the test if there is no
     * such browser.
     *
     * @param {import('node:test').TestContext} context
     * @param {(typeof places)[number]} place
     * @param {(lab: any, ...args: any[]) => any} work
     * @param {any[]} args
     * @returns {Promise<any>} undefined when it was skipped
     */
    async run(context, place, work, ...args) {
      const name = place.name.split(',')[0] ?? '';
      const browser = browsers[name];
      if (!browser) return context.skip('there is no such browser here');
      const inTab = (tabs[name] ??= reusedTab(() => browser.newPage()));
      return inTab(async (page) => {
        await page.goto(this.server(place.isolated).url('/lab/'));
        await page.waitForSelector('html[data-ready]');
        const lab = await page.evaluateHandle('lab');
        const seen = await page.evaluate(work, lab, ...args);
        // To the tests, undefined would mean that there is no such browser.
        if (seen === undefined) throw new Error('The page has seen nothing');
        return seen;
      });
    },
  };
}
