import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { findWebKit } from '../../../scripts/browser/find.mjs';
import { freePort } from './free-port.mjs';

/**
 * Starts WebKitGTK's browser through its own driver, because neither Puppeteer nor Playwright drives
 * this browser. Its pages have the methods that `useWorkers` needs.
 *
 * @returns {Promise<{ newPage: () => Promise<WebKitPage>, close: () => Promise<void>, version: string } | undefined>} undefined if it is not installed
 */
export async function launchWebKit() {
  const found = findWebKit();
  if (found === undefined) return undefined;
  const screen = spawn(found.display, ['-displayfd', '3', '-nolisten', 'tcp'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const pipe = /** @type {import('node:stream').Readable} */ (screen.stdio[3]);
  const [display] = await once(pipe, 'data');
  const env = {
    ...process.env,
    DISPLAY: `:${String(display).trim()}`,
    GDK_BACKEND: 'x11',
    // Root cannot start a sandbox.
    ...(process.getuid?.() === 0 && { WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' }),
  };
  let driver = await startDriver(found.driver, env);
  let version = '';
  /** @type {Set<WebKitPage>} */
  const pages = new Set();
  const newSession = () => driver.ask('POST', '/session', {
    capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': { binary: found.browser, args: ['--automation'] } } },
  }, { timeoutMs: 8000 });
  return {
    async newPage() {
      // About one browser in a hundred never connects to its driver. The driver then serves nobody any
      // more.
      const { sessionId, capabilities } = await newSession().catch(async () => {
        await end(driver.process);
        driver = await startDriver(found.driver, env);
        return newSession();
      });
      version = `WebKitGTK ${capabilities.browserVersion}`;
      await driver.ask('POST', `/session/${sessionId}/timeouts`, { script: 60_000 });
      const page = new WebKitPage(driver.ask, `/session/${sessionId}`, () => pages.delete(page));
      pages.add(page);
      return page;
    },
    get version() {
      return version;
    },
    async close() {
      // Each page is a separate browser, which would outlive the driver.
      await Promise.allSettled([...pages].map((page) => page.close()));
      await end(driver.process);
      await end(screen);
    },
  };
}

/** @param {string} path @param {NodeJS.ProcessEnv} env */
async function startDriver(path, env) {
  const port = await freePort();
  const process = spawn(path, [`--port=${port}`], { stdio: 'ignore', env });
  const ask = asking(`http://127.0.0.1:${port}`);
  await untilReady(ask);
  return { process, ask };
}

/** @param {import('node:child_process').ChildProcess} child */
async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, 'exit');
}

/** @typedef {(method: string, path: string, body?: object, options?: { timeoutMs?: number }) => Promise<any>} Ask */

/** A session of the driver: one page. */
class WebKitPage {
  #ask;
  #session;
  #closed;

  /** @param {Ask} ask @param {string} session @param {() => void} closed */
  constructor(ask, session, closed) {
    this.#ask = ask;
    this.#session = session;
    this.#closed = closed;
  }

  /** @param {string} url */
  goto(url) {
    return this.#ask('POST', `${this.#session}/url`, { url });
  }

  /** @param {string} selector */
  async waitForSelector(selector) {
    while (!await this.evaluate((/** @type {string} */ it) => document.querySelector(it) !== null, selector)) await sleep(20);
  }

  /** @param {string} expression an expression; {@link evaluate} passes its value to the function */
  evaluateHandle(expression) {
    return Promise.resolve(new Expression(expression));
  }

  /** @param {(...args: any[]) => unknown} work @param {any[]} args */
  async evaluate(work, ...args) {
    const values = args.map((arg, index) => (arg instanceof Expression ? arg.text : `all[${index}]`));
    const script = `const all = arguments; const done = all[all.length - 1];
      (async () => (${work})(${values.join(', ')}))().then((value) => done({ value }), (error) => done({ error: String(error) + error?.stack }));`;
    const { value, error } = await this.#ask('POST', `${this.#session}/execute/async`, {
      script,
      args: args.map((arg) => (arg instanceof Expression ? null : arg)),
    });
    if (error !== undefined) throw new Error(error);
    return value;
  }

  async close() {
    this.#closed();
    await this.#ask('DELETE', this.#session);
  }
}

class Expression {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }
}

/** @param {string} base @returns {Ask} */
function asking(base) {
  return async (method, path, body, { timeoutMs } = {}) => {
    const answer = await fetch(base + path, {
      method,
      ...(body && { body: JSON.stringify(body) }),
      ...(timeoutMs && { signal: AbortSignal.timeout(timeoutMs) }),
    });
    const { value } = /** @type {any} */ (await answer.json());
    if (!answer.ok) throw new Error(`${value.error}: ${value.message}`);
    return value;
  };
}

/** @param {Ask} ask */
async function untilReady(ask) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask('GET', '/status');
    } catch (error) {
      if (tries === 200) throw error;
      await sleep(50);
    }
  }
}
