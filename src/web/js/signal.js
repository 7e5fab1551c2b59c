/**
 * A caller's AbortSignal.
 */
import { cancelled } from './envelope.js';
import { failure } from './errors.js';
import { reasonText } from './reason.js';

/**
 * Makes a call that a signal may abort; one that has fired already makes none.
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
  if (signal.aborted) return cancelled();
  const onAbort = () => abort(reasonText(signal.reason));
  signal.addEventListener('abort', onAbort);
  try {
    return await call();
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
