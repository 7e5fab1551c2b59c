/**
 * The one instance of the wasm module, for all entry points of the package.
 *
 * `#wasm` is the JavaScript that wasm-bindgen wrote for the crate.
 */
import { abpError, text } from '../src/web/js/errors.js';
import { AgentHandle, HostHandle, imports, start } from '#wasm';

/** The exports of the crate, once the module is loaded. Imported by name, so that a bundler leaves out the rest. */
const exports = { AgentHandle, HostHandle };

/** @typedef {typeof exports} Exports */

/** @type {Promise<Exports> | undefined} */
let loading;

/**
 * The crate's exports. If loading fails, the next caller tries again.
 *
 * @param {() => Promise<BufferSource>} bytes of the module
 * @returns {Promise<Exports>}
 */
export function instance(bytes) {
  loading ??= instantiate(bytes).catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/** @param {() => Promise<BufferSource>} bytes */
async function instantiate(bytes) {
  const module = await bytes();
  const { instance } = await WebAssembly.instantiate(module, imports()).catch(explain);
  start(instance);
  return exports;
}

/** @param {unknown} error @returns {never} */
function explain(error) {
  // The error of some browsers asks for more than is needed.
  if (!/Content Security|CSP|unsafe-eval/i.test(text(error))) throw error;
  throw abpError('NOT_SUPPORTED', `The Content-Security-Policy of this page forbids WebAssembly: add 'wasm-unsafe-eval' to its script-src. ${text(error)}`);
}
