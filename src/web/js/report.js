/**
 * Calls a callback, whose failure is its owner's and disturbs nothing here.
 *
 * @param {((...args: any[]) => unknown) | undefined} callback
 * @param {any[]} args
 */
export function report(callback, ...args) {
  try {
    callback?.(...args);
  } catch (error) {
    (globalThis.reportError ?? console.error)(error);
  }
}
