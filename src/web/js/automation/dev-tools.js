/**
 * The browser's DevTools, as Puppeteer and Playwright give them.
 *
 * @typedef {object} DevTools
 * @property {(method: string, params?: object) => Promise<any>} send
 * @property {(event: string, listener: (params: any) => void) => unknown} on
 * @property {() => Promise<void>} detach
 */

/**
 * @param {any} page
 * @returns {Promise<DevTools | undefined>} undefined if the browser has none
 */
export async function openDevTools(page) {
  try {
    return await (page.createCDPSession ? page.createCDPSession() : page.context().newCDPSession(page));
  } catch {
    return undefined;
  }
}
