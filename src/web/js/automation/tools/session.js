/**
 * The DevTools session of a page, the same from Puppeteer and from Playwright.
 *
 * @typedef {object} DevTools
 * @property {(method: string, params?: object) => Promise<any>} send
 * @property {(event: string, listener: (params: any) => void) => unknown} on
 * @property {() => Promise<void>} detach
 */

/**
 * @param {any} page
 * @returns {Promise<DevTools | undefined>} undefined where the browser has none, or knows no tools
 */
export async function openDevTools(page) {
  /** @type {DevTools | undefined} */
  let session;
  try {
    session = await (page.createCDPSession ? page.createCDPSession() : page.context().newCDPSession(page));
    await session?.send('Page.enable');
    return session;
  } catch {
    await session?.detach().catch(() => {});
    return undefined;
  }
}
