import { inLab } from '../support/lab.mjs';

/**
 * A page whose host is connected to the gateway. Its capability reports progress until it is told to
 * stop. The page counts the running handlers.
 *
 * @param {{ page: () => Promise<import('puppeteer-core').Page>, urls: { app: string } }} lab
 */
export async function appPage(lab) {
  const page = await lab.page();
  await inLab(page, async ({ newHost, join }, url) => {
    const host = await newHost();
    const state = { host, working: 0 };
    host.register('test.work', { description: 'Works until it is told to stop' }, (/** @type {any} */ _, /** @type {any} */ { signal, progress }) => {
      state.working += 1;
      let done = 0;
      return new Promise((_resolve, reject) => {
        const timer = setInterval(() => progress({ progress: (done += 1), total: 1_000 }), 5);
        signal.addEventListener('abort', () => {
          clearInterval(timer);
          state.working -= 1;
          reject(signal.reason);
        });
      });
    });
    Object.assign(window, state, { state });
    await join(host, url);
  }, lab.urls.app);
  return page;
}

/** How many handlers are running. @param {import('puppeteer-core').Page} page @returns {Promise<number>} */
export const working = (page) => page.evaluate(() => /** @type {any} */ (window).state.working);

/** Waits until this many handlers are running. @param {import('puppeteer-core').Page} page @param {number} count */
export const untilWorking = (page, count) =>
  page.waitForFunction((/** @type {number} */ wanted) => /** @type {any} */ (window).state.working === wanted, { polling: 10 }, count);
