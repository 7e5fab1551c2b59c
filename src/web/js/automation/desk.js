/**
 * An object in a page's document, whose functions this program calls. It goes with its document, so a
 * message for one document never reaches another.
 *
 * @typedef {{ evaluate: (work: any, argument?: any) => Promise<any>, dispose: () => Promise<unknown> }} Desk
 */

/** @import { DevTools } from './dev-tools.js' */

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
