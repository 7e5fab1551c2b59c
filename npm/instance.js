/**
 * The one instance of a wasm module.
 */
import { abpError, text } from '../src/web/js/errors.js';
import { isAlone } from '../src/web/js/guard.js';

/**
 * Makes a function that loads a module once. If loading fails, the next caller tries again.
 *
 * @param {() => Promise<BufferSource>} bytes of the module
 * @param {any} glue the JavaScript that wasm-bindgen wrote for the module
 * @param {object} own the package's own functions, which the module imports unchanged
 * @param {() => any} handle returns the functions of the module
 * @returns {() => Promise<any>} resolves to the functions of the module once it is loaded
 */
export function once(bytes, glue, own, handle) {
  /** @type {Promise<any> | undefined} */
  let loading;
  // The path by which the module names the package's own functions has a hash.
  const imports = new Proxy({}, { get: (_, module) => (String(module).startsWith('./snippets/') ? own : glue) });
  const load = async () => {
    ensurePlatform();
    const { instance } = await WebAssembly.instantiate(await bytes(), imports).catch(explain);
    glue.__wbg_set_wasm(instance.exports);
    /** @type {any} */ (instance.exports).__wbindgen_start();
    const functions = handle();
    isAlone(functions);
    return functions;
  };
  const retry = (/** @type {unknown} */ error) => {
    loading = undefined;
    throw error;
  };
  return () => (loading ??= load().catch(retry));
}

/** What every call uses, and every browser has. Scripts of a page may have removed it, and imitations of a browser may lack it. */
const NEEDED = /** @type {const} */ (['crypto', 'performance', 'DOMException']);

/** @throws {Error} if something is missing, before a call depends on it */
function ensurePlatform() {
  const missing = NEEDED.find((name) => globalThis[name] === undefined) ?? (typeof crypto.getRandomValues === 'function' ? undefined : 'crypto.getRandomValues');
  if (missing) throw abpError('NOT_SUPPORTED', `caphost needs ${missing}, which is missing here`);
}

/** @param {unknown} error @returns {never} */
function explain(error) {
  // In some browsers the error text asks for more than is needed.
  if (!/Content Security|CSP|unsafe-eval/i.test(text(error))) throw error;
  throw abpError('NOT_SUPPORTED', `The Content-Security-Policy of this page forbids WebAssembly: add 'wasm-unsafe-eval' to its script-src. ${text(error)}`);
}
