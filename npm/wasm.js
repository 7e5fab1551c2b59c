/**
 * Fetches the wasm module. The build puts the one copy of `caphost_bg.wasm` beside the entry points,
 * so a URL relative to this module finds it.
 */
import { abpError, text } from '../src/web/js/errors.js';
import { instance } from './instance.js';

/** @typedef {URL | BufferSource} Source the URL of the bytes, or the bytes */

/**
 * In a page, the fetch of the module starts while the rest of the page is still loading: a page that
 * imports this package needs the module. Elsewhere, for example on a server, nothing is fetched on import.
 *
 * @type {Promise<ArrayBuffer | undefined> | undefined}
 */
let early = 'document' in globalThis || 'WorkerGlobalScope' in globalThis
  // The caller that needs the module tries again, and gets the error.
  ? Promise.resolve().then(() => read(beside())).catch(() => undefined)
  : undefined;

/** @type {() => Source | Promise<Source>} */
let source = beside;

/**
 * Sets the source of the module, for a platform whose `fetch` cannot get it. Has no effect once the module
 * is loaded.
 *
 * @param {() => Source | Promise<Source>} from
 */
export function loadFrom(from) {
  source = from;
  early = undefined;
}

/** The crate's exports. */
export const load = () => instance(bytes);

/** @returns {Promise<BufferSource>} */
async function bytes() {
  const fetched = await early;
  // The bytes are used once, and not kept.
  early = undefined;
  const from = fetched ?? (await source());
  return from instanceof URL ? read(from) : from;
}

function beside() {
  return new URL('./caphost_bg.wasm', import.meta.url);
}

/** @param {URL} url */
async function read(url) {
  let why;
  try {
    const response = await fetch(url);
    const bytes = await response.arrayBuffer();
    if (response.ok && new DataView(bytes).getUint32(0) === MAGIC) return bytes;
    why = response.ok ? 'what is there is something else' : `${response.status} ${response.statusText}`.trim();
  } catch (error) {
    throw abpError('INTERNAL_ERROR', `The wasm of caphost at ${url} cannot be fetched: ${text(error)}. ${UNREACHABLE}`);
  }
  throw abpError('INTERNAL_ERROR', `The wasm of caphost is not at ${url}: ${why}. ${url.pathname.startsWith('/@fs/') ? LINKED : REMEDY}`);
}

/** The first bytes of a wasm module. */
const MAGIC = 0x0061736d;

const REMEDY = "Bundled by Vite 5 to 7, set optimizeDeps: { exclude: ['caphost'] }; by others, import from 'caphost/inline'.";

/** The possible causes. A browser tells a page no more than that. */
const UNREACHABLE = "Either its server cannot be reached, or the page's Content-Security-Policy forbids it: connect-src must allow that URL.";

/** Vite serves files outside of the project under this path, and refuses this one. */
const LINKED = 'Vite serves no package that is linked: install the tarball of `npm pack`.';
