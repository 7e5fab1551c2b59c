/**
 * @typedef {object} CallOptions
 * @property {AbortSignal} [signal]
 * @property {number} [timeout] milliseconds
 * @property {string} [callId]
 * @property {(info: any) => void} [onProgress]
 * @property {Transferable[] | true} [transfer] what of the parameters is moved; given at all, the
 *   data of the response is moved too
 */

/**
 * What is wrong with the arguments of a call, but for its callId, of which Rust knows the rule.
 *
 * @param {unknown} capability
 * @param {unknown} params
 * @param {any} options
 * @returns {string | undefined}
 */
export function problemWith(capability, params, { signal, timeout, callId, onProgress, transfer }) {
  if (typeof capability !== 'string') return 'Bad capability: it is the name of one';
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return 'Bad params: parameters are an object';
  if (callId !== undefined && typeof callId !== 'string') return 'Bad callId: it is a string';
  // NaN is not equal or above anything.
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout >= 0)) {
    return 'Bad timeout: it is a number of milliseconds, not negative';
  }
  if (signal !== undefined && typeof signal?.addEventListener !== 'function') return 'Bad signal: it is an AbortSignal';
  if (onProgress !== undefined && typeof onProgress !== 'function') return 'Bad onProgress: it is a function';
  if (transfer !== undefined && transfer !== true && !Array.isArray(transfer)) return 'Bad transfer: it is an array';
  return undefined;
}
