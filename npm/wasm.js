/**
 * Fetches the wasm module. The build puts the one copy of `caphost_bg.wasm` beside the entry points,
 * so a URL relative to this module finds it.
 */
import { abpError, text } from '../src/web/js/errors.js';
import { instance } from './instance.js';

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

/**
 * Says where to get the module from, for a platform whose `fetch` cannot. Has no effect once it is loaded.
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
  // Once: the bytes are not kept.
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

/** What a wasm module begins with. */
const MAGIC = 0x0061736d;

const REMEDY = "Bundled by Vite 5 to 7, set optimizeDeps: { exclude: ['caphost'] }; by others, import from 'caphost/inline'.";

/** A browser tells a page no more. */
const UNREACHABLE = "Either its server cannot be reached, or the page's Content-Security-Policy forbids it: connect-src must allow that URL.";

/** Vite serves what lies outside of the project under this path, and refuses it. */
const LINKED = 'Vite serves no package that is linked: install the tarball of `npm pack`.';
