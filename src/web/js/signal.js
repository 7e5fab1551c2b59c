/**
 * The caller's reason for a cancel, and the AbortSignal with which the caller may cancel.
 */
import { failure, report } from './errors.js';

export const NO_SIGNAL = 'signal must be an AbortSignal';

/** @typedef {{ reason: string | undefined }} Aborted that a signal had fired when its call was made */

/**
 * Makes a call that a signal may abort. If the signal has already fired, the call is still made: the
 * host cancels it before its start, and remembers it.
 *
 * @param {any} signal
 * @param {(reason: string | undefined) => void} abort
 * @param {(aborted?: Aborted) => Promise<any>} call never rejects
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

/** The number of characters of a reason that are passed on. Rust keeps fewer. */
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
    // An Error of another realm, such as a frame, is not an instance of this realm's Error.
    if (!/Error|DOMException/.test(Object.prototype.toString.call(reason))) return reasonOf(reason);
    const { message } = /** @type {Error} */ (reason);
    // The default reason of an abort is nobody's reason.
    return message === AbortSignal.abort().reason.message ? undefined : reasonOf(message);
  } catch {
    return undefined;
  }
}
