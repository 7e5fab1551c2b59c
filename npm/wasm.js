/**
 * Loads the wasm module, once for all entry points of the package.
 *
 * `#wasm` is what wasm-bindgen wrote for the crate. The build puts the one copy of it, and the one
 * copy of `caphost_bg.wasm`, beside the entry points, so a URL relative to this module finds it.
 */
import { AgentHandle, HostHandle, imports, newHost, start } from '#wasm';

/** What the crate exports, once the module is there. By name: a bundler leaves out the rest. */
const exports = { AgentHandle, HostHandle, newHost };

/** @typedef {typeof exports} Exports */
/** @typedef {URL | BufferSource} Source where the bytes are, or the bytes */

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
  loading ??= instantiate().catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function instantiate() {
  const from = await source();
  const { instance } = await WebAssembly.instantiate(from instanceof URL ? await read(from) : from, imports());
  start(instance);
  return exports;
}

/** @param {URL} url */
async function read(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}
