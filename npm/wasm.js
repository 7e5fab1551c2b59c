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

/**
 * A page fetches the module while the rest of it is still being loaded: who imports this package
 * will need it. Elsewhere, say on a server that only imports it, nothing is fetched.
 *
 * @type {Promise<ArrayBuffer | undefined> | undefined}
 */
let early = 'document' in globalThis || 'WorkerGlobalScope' in globalThis
  // Whoever needs it tries again, and is told.
  ? Promise.resolve().then(() => read(beside())).catch(() => undefined)
  : undefined;

/** @type {() => Source | Promise<Source>} */
let source = beside;

/** @type {Promise<Exports> | undefined} */
let loading;

/**
 * Says where to get the module from, for a platform whose `fetch` cannot. Has no effect once it is loaded.
 *
 * @param {() => Source | Promise<Source>} from
 */
export function loadFrom(from) {
  source = from;
  early = undefined;
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
  const fetched = await early;
  // Once: the bytes are not kept.
  early = undefined;
  const { instance } = await WebAssembly.instantiate(fetched ?? (await bytesOf(await source())), imports());
  start(instance);
  return exports;
}

function beside() {
  return new URL('./caphost_bg.wasm', import.meta.url);
}

/** @param {Source} from */
async function bytesOf(from) {
  return from instanceof URL ? read(from) : from;
}

/** @param {URL} url */
async function read(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}
