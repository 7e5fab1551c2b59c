import { serveFiles } from '../support/static-server.mjs';

/**
 * A browser and a server of the plain app for the tests of one suite.
 *
 * @param {{ before: (work: () => Promise<void>) => void, after: (work: () => Promise<void>) => void }} hooks
 * @param {() => Promise<import('../support/browsers.mjs').Launched<import('../support/browsers.mjs').CommonPage>>} launch
 */
export function plainAppIn({ before, after }, launch) {
  /** @type {import('../support/browsers.mjs').Launched<import('../support/browsers.mjs').CommonPage>} */
  let browser;
  /** @type {import('../support/static-server.mjs').StaticServer} */
  let server;
  before(async () => {
    [browser, server] = await Promise.all([launch(), serveFiles({ pages: { '/empty': '<!doctype html><title>empty</title>' } })]);
  });
  after(async () => {
    await browser.close();
    await server.close();
  });
  return {
    url: (/** @type {string} */ path) => server.url(path),
    newPage: () => browser.newPage(),
    /**
     * A page with the plain app, closed when the test is over.
     *
     * @param {import('node:test').TestContext} t
     * @param {string} [query] the faults of the app
     * @returns {Promise<any>}
     */
    async appPage(t, query = '') {
      const page = await browser.newPage();
      // A client may never learn that a page it was navigating has closed. The end of the browser
      // closes the page in any case.
      t.after(() => Promise.race([page.close().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 3_000))]));
      await page.goto(server.url(`/plain-app/?${query}`));
      return page;
    },
  };
}

/** The log of the app in a page. @param {any} page @returns {Promise<string[]>} */
export const logOf = (page) => page.evaluate(() => /** @type {any} */ (window).plainApp.log);

/** Resolves when the app has received the previous call, which it has once a later call is answered. @param {any} agent */
export const settled = (agent) => agent.call('echo');

/** @param {any} page the page whose renderer is ended; the browser continues */
export async function crash(page) {
  const session = page.createCDPSession ? await page.createCDPSession() : await page.context().newCDPSession(page);
  // This command is never answered.
  session.send('Page.crash').catch(() => {});
}

/** @param {{ error?: { code: string } }} response */
export const codeOf = ({ error }) => error?.code;

/** The response to a call whose handler never ran. */
export const neverStarted = { success: false, cancelled: true, metadata: { stop: 'never-started' } };

/** The response to a cancelled call of an app that does not say how far the call stopped, such as the plain app. */
export const abandoned = { success: false, cancelled: true, metadata: { stop: 'abandoned' } };

/**
 * The confirmation of a cancel.
 *
 * @param {string} callId
 * @param {string} stop how far the call was seen to stop
 */
export const confirmed = (callId, stop) => ({ callId, cancelled: true, metadata: { stop } });
