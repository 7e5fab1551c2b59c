import puppeteer from 'puppeteer-core';
import { findChromium, findFirefox } from '../../../scripts/browser/find.mjs';
import { chromiumFlags } from '../../../scripts/browser/flags.mjs';

/**
 * @template Page
 * @typedef {object} Launched
 * @property {() => Promise<Page>} newPage an empty page in the same profile
 * @property {() => Promise<void>} close ends only this browser
 * @property {string} version
 */

/**
 * @typedef {object} LaunchOptions
 * @property {string[]} [args] further command line flags
 * @property {string} [executablePath] the browser to use instead of the Chromium that was found
 */

/**
 * The common methods of both clients' pages that tests need.
 *
 * @typedef {object} CommonPage
 * @property {(url: string) => Promise<unknown>} goto
 * @property {<Result, Argument = undefined>(work: ((argument: Argument) => Result) | string, argument?: Argument) => Promise<Awaited<Result>>} evaluate
 * @property {(name: string, callback: (...args: any[]) => unknown) => Promise<unknown>} exposeFunction
 * @property {() => Promise<unknown>} reload
 * @property {() => Promise<void>} close
 * @property {(event: 'close', listener: () => void) => unknown} once
 * @property {(options: { path?: string, fullPage?: boolean }) => Promise<Uint8Array>} screenshot
 */

/** How long a browser may take to end by itself. */
const closeGraceMs = 5000;

function executable() {
  const path = findChromium();
  if (path === undefined) throw new Error('no Chromium found: `npm run setup` gets one');
  return path;
}

/**
 * @param {LaunchOptions} [options]
 * @returns {Promise<Launched<import('puppeteer-core').Page> & { browser: import('puppeteer-core').Browser }>}
 */
export async function launchPuppeteer({ args = [], executablePath = executable() } = {}) {
  const browser = await puppeteer.launch({ executablePath, headless: true, args: [...chromiumFlags(), ...args] });
  return launchedByPuppeteer(browser);
}

/** @param {import('puppeteer-core').Browser} browser */
async function launchedByPuppeteer(browser) {
  const process = browser.process();
  return {
    browser,
    version: await browser.version(),
    newPage: () => browser.newPage(),
    close: () => closeOrKill(() => browser.close(), () => process?.kill('SIGKILL')),
  };
}

/**
 * @param {LaunchOptions} [options]
 * @returns {Promise<Launched<import('puppeteer-core').Page> & { browser: import('puppeteer-core').Browser } | undefined>} undefined if no Firefox is installed
 */
export async function launchFirefox({ args = [], executablePath = findFirefox() } = {}) {
  if (executablePath === undefined) return undefined;
  const browser = await puppeteer.launch({ browser: 'firefox', executablePath, headless: true, args });
  return launchedByPuppeteer(browser);
}

/**
 * @param {LaunchOptions} [options]
 * @returns {Promise<Launched<import('playwright-core').Page> & { browser: import('playwright-core').Browser, context: import('playwright-core').BrowserContext }>}
 */
export async function launchPlaywright({ args = [], executablePath = executable() } = {}) {
  // Imported here because most test files never use it, and loading it takes as long as starting a
  // browser.
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({
    executablePath,
    headless: true,
    // The flags decide whether there is a sandbox.
    chromiumSandbox: true,
    args: [...chromiumFlags(), ...args],
  });
  const context = await browser.newContext();
  return {
    browser,
    context,
    version: browser.version(),
    newPage: () => context.newPage(),
    close: () => closeOrKill(() => browser.close()),
  };
}

/**
 * Both clients, for tests that apply to both: `for (const { name, launch } of automationClients) test(…)`.
 *
 * @type {ReadonlyArray<{ name: 'Puppeteer' | 'Playwright', launch: (options?: LaunchOptions) => Promise<Launched<CommonPage>> }>}
 */
export const automationClients = /** @type {any} */ ([
  { name: 'Puppeteer', launch: launchPuppeteer },
  { name: 'Playwright', launch: launchPlaywright },
]);

/**
 * Runs pieces of work one after the other in the same tab, each in a new document: a new tab costs
 * several times as much as loading a page. A tab in which work has failed is not used again.
 *
 * @template {{ close: () => Promise<void> }} Page
 * @param {() => Promise<Page>} open
 */
export function reusedTab(open) {
  /** @type {Page | undefined} */
  let idle;
  /**
   * @template Result
   * @param {(page: Page) => Promise<Result>} work the work; it loads its page first
   * @returns {Promise<Result>}
   */
  return async (work) => {
    const page = idle ?? await open();
    idle = undefined;
    let done = false;
    try {
      const result = await work(page);
      done = true;
      return result;
    } finally {
      // If another tab has become free meanwhile, this one is not needed.
      if (done && idle === undefined) idle = page;
      else await page.close();
    }
  };
}

/** @param {() => Promise<void>} close @param {() => void} [kill] */
async function closeOrKill(close, kill) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(kill?.()), closeGraceMs);
  });
  await Promise.race([close(), late]);
  clearTimeout(timer);
}
