/**
 * The one instance of a wasm module.
 */
import { abpError, text } from '../src/web/js/errors.js';

/**
 * If loading fails, the next caller tries again.
 *
 * @param {() => Promise<BufferSource>} bytes of the module
 * @param {any} glue the JavaScript that wasm-bindgen wrote for the module
 * @param {object} functions the functions of ours that the module imports as they are
 * @param {() => any} handle gives the functions of the module
 * @returns {() => Promise<any>} gives them once the module is loaded
 */
export function once(bytes, glue, functions, handle) {
  /** @type {Promise<any> | undefined} */
  let loading;
  // The module names our functions by a path that has a hash.
  const imports = new Proxy({}, { get: (_, module) => (String(module).startsWith('./snippets/') ? functions : glue) });
  const load = async () => {
    const { instance } = await WebAssembly.instantiate(await bytes(), imports).catch(explain);
    glue.__wbg_set_wasm(instance.exports);
    /** @type {any} */ (instance.exports).__wbindgen_start();
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
