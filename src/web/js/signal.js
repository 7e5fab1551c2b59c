/**
 * A caller's AbortSignal.
 */
import { failure } from './errors.js';
import { reasonText } from './reason.js';

/**
 * Makes a call that a signal may abort. With one that has fired already it is made and cancelled
 * before its start, so that its host remembers it.
 *
 * @param {any} signal
 * @param {(reason: string | undefined) => void} abort
 * @param {() => Promise<any>} call
 * @returns {Promise<any>} an ABPResponse
 */
export async function underSignal(signal, abort, call) {
  if (signal == null) return call();
  if (typeof signal.addEventListener !== 'function') {
    return failure('INVALID_PARAMS', 'Bad options.signal: it is an AbortSignal');
  }
  const onAbort = () => abort(reasonText(signal.reason));
  signal.addEventListener('abort', onAbort);
  try {
    const response = call();
    if (signal.aborted) onAbort();
    return await response;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
