/**
 * The one instance of a wasm module.
 */
import { abpError, text } from '../src/web/js/errors.js';

/**
 * If loading fails, the next caller tries again.
 *
 * @param {(module: { module_or_path: BufferSource }) => Promise<unknown>} init loads the module into the JavaScript that wasm-bindgen wrote for it
 * @param {() => Promise<BufferSource>} bytes of the module
 * @param {() => any} handle gives the functions of the module
 * @returns {() => Promise<any>} gives them once the module is loaded
 */
export function once(init, bytes, handle) {
  /** @type {Promise<any> | undefined} */
  let loading;
  const load = async () => {
    await init({ module_or_path: await bytes() }).catch(explain);
    return handle();
  };
  const retry = (/** @type {unknown} */ error) => {
    loading = undefined;
    throw error;
  };
  return () => (loading ??= load().catch(retry));
}

/** @param {unknown} error @returns {never} */
function explain(error) {
  // The error of some browsers asks for more than is needed.
  if (!/Content Security|CSP|unsafe-eval/i.test(text(error))) throw error;
  throw abpError('NOT_SUPPORTED', `The Content-Security-Policy of this page forbids WebAssembly: add 'wasm-unsafe-eval' to its script-src. ${text(error)}`);
}
