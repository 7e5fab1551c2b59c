/**
 * Why a caller cancels, and the AbortSignal by which it may.
 */
import { failure, report } from './errors.js';

export const NO_SIGNAL = 'signal must be an AbortSignal';

/** @typedef {{ reason: string | undefined }} Aborted that a signal had fired when its call was made */

/**
 * Makes a call that a signal may abort. One whose signal has fired already is made all the same: its
 * host cancels it before its start, and remembers it.
 *
 * @param {any} signal
 * @param {(reason: string | undefined) => void} abort
 * @param {(aborted?: Aborted) => Promise<any>} call which never rejects
 * @returns {Promise<any>} an ABPResponse
 */
export function underSignal(signal, abort, call) {
  if (signal == null) return call();
  const onAbort = () => abort(reasonText(signal.reason));
  /** @type {Aborted | undefined} */
  let aborted;
  try {
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) aborted = { reason: reasonText(signal.reason) };
  } catch {
    return Promise.resolve(failure('INVALID_PARAMS', NO_SIGNAL));
  }
  return call(aborted).then((response) => {
    report(() => signal.removeEventListener('abort', onAbort));
    return response;
  });
}

/** Characters of a reason that are passed on; Rust keeps fewer. */
const MAX_REASON = 4096;

/** @param {unknown} reason @returns {string | undefined} */
export const reasonOf = (reason) => (typeof reason === 'string' ? reason.slice(0, MAX_REASON) : undefined);

/**
 * A reason is passed on only if it is a string, or an Error's message.
 *
 * @param {unknown} reason
 * @returns {string | undefined}
 */
export function reasonText(reason) {
  try {
    // An Error of another realm, such as a frame's, is no instance of this one's.
    if (!/Error|DOMException/.test(Object.prototype.toString.call(reason))) return reasonOf(reason);
    const { message } = /** @type {Error} */ (reason);
    // That of an abort without a reason is nobody's.
    return message === AbortSignal.abort().reason.message ? undefined : reasonOf(message);
  } catch {
    return undefined;
  }
}
