/**
 * The browser's DevTools, as Puppeteer and Playwright give them, and objects in a page that they reach.
 *
 * @typedef {object} DevTools
 * @property {(method: string, params?: object) => Promise<any>} send
 * @property {(event: string, listener: (params: any) => void) => unknown} on
 * @property {() => Promise<void>} detach
 *
 * @typedef {{ evaluate: (work: any, argument?: any) => Promise<any>, dispose: () => Promise<unknown> }} Desk an object in a
 *   page's document, whose functions this program calls. It goes with its document, so a message for one document never
 *   reaches another
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

/**
 * Makes the object in the main frame of a page. The DevTools take about three quarters of the time that
 * the evaluations of Puppeteer and Playwright take, which are for values of any kind.
 *
 * @param {DevTools} devTools
 * @param {() => object} make runs in the page
 * @returns {Promise<Desk>}
 */
export async function deskOver(devTools, make) {
  const { objectId } = valueOf(await devTools.send('Runtime.evaluate', { expression: `(${make})()` }));
  return {
    async evaluate(work, argument) {
      const call = { objectId, functionDeclaration: String(work), arguments: [{ objectId }, { value: argument }], awaitPromise: true, returnByValue: true };
      return valueOf(await devTools.send('Runtime.callFunctionOn', call)).value;
    },
    dispose: () => devTools.send('Runtime.releaseObject', { objectId }),
  };
}

/**
 * @param {{ result: { objectId?: string, value?: any }, exceptionDetails?: { text: string, exception?: { description?: string } } }} evaluated
 * @throws {Error} what the page threw
 */
function valueOf({ result, exceptionDetails }) {
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result;
}
