/**
 * A caller's AbortSignal.
 */
import { failure } from './errors.js';
import { reasonText } from './reason.js';
import { report } from './report.js';

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
  if (typeof signal.addEventListener !== 'function') {
    return Promise.resolve(failure('INVALID_PARAMS', 'Bad options.signal: it is an AbortSignal'));
  }
  if (signal.aborted) return call({ reason: reasonText(signal.reason) });
  const onAbort = () => abort(reasonText(signal.reason));
  signal.addEventListener('abort', onAbort);
  return call().then((response) => {
    report(() => signal.removeEventListener('abort', onAbort));
    return response;
  });
}
