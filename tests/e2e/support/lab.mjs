import { after, before } from 'node:test';
import { launchPuppeteer, reusedTab } from './browsers.mjs';
import { serveFiles } from './static-server.mjs';

/** The first argument of work in a page: `globalThis.lab` of fixtures/lab. @typedef {any} Lab */

/**
 * A browser and a server for the tests of one file, and pages with `lab` in them.
 *
 * @param {() => Promise<Parameters<typeof serveFiles>[0]>} [files] the other files to serve
 */
export function useLab(files = async () => ({})) {
  /** @type {Awaited<ReturnType<typeof serveFiles>>} */
  let server;
  /** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
  let browser;
  /** @type {(value?: unknown) => void} */
  let begin = () => {};
  /** Hooks of a file's top level do not wait for each other. */
  const begun = new Promise((resolve) => (begin = resolve));
  before(async () => {
    [server, browser] = await Promise.all([files().then(serveFiles), launchPuppeteer()]);
    begin();
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  const load = async (/** @type {import('puppeteer-core').Page} */ page, /** @type {string} */ url) => {
    await page.goto(url);
    await page.waitForSelector('html[data-ready]');
    return page;
  };
  const inTab = reusedTab(() => browser.newPage());
  /**
   * Runs work in a page that is loaded for it. The tab is reused, so the work must have no effects that
   * outlast a document.
   *
   * @template Result
   * @param {(page: import('puppeteer-core').Page) => Promise<Result>} work
   */
  const inPage = (work) => inTab(async (page) => work(await load(page, server.url('/lab/'))));

  return {
    begun,
    get server() {
      return server;
    },
    get browser() {
      return browser;
    },
    /** @param {string} [url] */
    async page(url = server.url('/lab/')) {
      return load(await browser.newPage(), url);
    },
    inPage,
    /**
     * Runs a function in a page that is loaded for it.
     *
     * @param {(lab: Lab, ...args: any[]) => any} work
     * @param {any[]} args
     * @returns {Promise<any>}
     */
    run: (work, ...args) => inPage((page) => inLab(page, work, ...args)),
  };
}

/**
 * Runs a function in a page that has `lab`.
 *
 * @param {import('puppeteer-core').Page | import('puppeteer-core').Frame} page
 * @param {(lab: Lab, ...args: any[]) => any} work
 * @param {any[]} args
 * @returns {Promise<any>}
 */
export async function inLab(page, work, ...args) {
  const lab = await page.evaluateHandle('lab');
  return page.evaluate(work, lab, ...args);
}

/** The answer to a cancelled call. */
export const cancelled = { success: false, cancelled: true };
