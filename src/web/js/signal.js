/**
 * A caller's AbortSignal.
 */
import { failure } from './errors.js';
import { reasonText } from './reason.js';

/**
 * Makes a call that a signal may abort. With one that has fired already it is made and cancelled
 * before its start, so that its host remembers it.
 *
 * @param {import('./shell.js').Shell} shell
 * @param {any} signal
 * @param {(reason: string | undefined) => void} abort
 * @param {() => Promise<any>} call which never rejects
 * @returns {Promise<any>} an ABPResponse
 */
export function underSignal(shell, signal, abort, call) {
  if (signal == null) return call();
  if (typeof signal.addEventListener !== 'function') {
    return Promise.resolve(failure('INVALID_PARAMS', 'Bad options.signal: it is an AbortSignal'));
  }
  const onAbort = () => abort(reasonText(signal.reason));
  signal.addEventListener('abort', onAbort);
  const response = signal.aborted ? stillborn(shell, onAbort, call) : call();
  return response.then((it) => {
    signal.removeEventListener('abort', onAbort);
    return it;
  });
}

/**
 * Makes a call and cancels it, before even its parameters are looked at.
 *
 * @param {import('./shell.js').Shell} shell
 * @param {() => void} cancel
 * @param {() => Promise<any>} call
 */
function stillborn(shell, cancel, call) {
  shell.rust.hold(shell.number, true);
  try {
    const response = call();
    cancel();
    return response;
  } finally {
    shell.rust.hold(shell.number, false);
  }
}
