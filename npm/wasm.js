/**
 * Loads the wasm module, once for all entry points of the package.
 *
 * `#wasm` is what wasm-bindgen wrote for the crate. The build puts the one copy of it, and the one
 * copy of `caphost_bg.wasm`, beside the entry points, so a URL relative to this module finds it.
 */
import initialize, * as exports from '#wasm';

/** @typedef {typeof exports} Exports what the crate exports */
/** @typedef {import('#wasm').InitInput} Source where the bytes are, or the bytes */

/** @type {() => Source | Promise<Source>} */
let source = () => new URL('./caphost_bg.wasm', import.meta.url);

/** @type {Promise<Exports> | undefined} */
let loading;

/**
 * Says where to get the module from, for a platform whose `fetch` cannot. Has no effect once it is loaded.
 *
 * @param {() => Source | Promise<Source>} from
 */
export function loadFrom(from) {
  source = from;
}

/**
 * The crate's exports. A failed load is tried again by the next caller.
 *
 * @returns {Promise<Exports>}
 */
export function load() {
  loading ??= initialize({ module_or_path: source() }).then(
    () => exports,
    (error) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
}
