/**
 * Fetches the wasm modules.
 */
import { abpError, text } from '../src/web/js/errors.js';

/** @type {(url: URL) => Promise<BufferSource>} */
let read = fetchFrom;

/**
 * Sets the function that reads the modules, for a platform whose `fetch` cannot get them.
 *
 * @param {(url: URL) => Promise<BufferSource>} how
 */
export function readWith(how) {
  read = how;
}

/**
 * In a page, the fetch of a module starts while the rest of the page is still loading: a page that
 * imports an entry point needs its module. Elsewhere, for example on a server, nothing is fetched on import.
 *
 * @param {() => URL} url of the module
 * @returns {() => Promise<BufferSource>} a function that returns the bytes of the module
 */
export function fetched(url) {
  /** @type {Promise<BufferSource | undefined> | undefined} */
  let early = 'document' in globalThis || 'WorkerGlobalScope' in globalThis
    // The caller that needs the module tries again, and gets the error.
    ? Promise.resolve().then(() => fetchFrom(url())).catch(() => undefined)
    : undefined;
  return async () => {
    const bytes = await early;
    // The bytes are used once, and not kept.
    early = undefined;
    return bytes ?? read(url());
  };
}

/** @param {URL} url */
async function fetchFrom(url) {
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

/** Vite serves files outside of the project under this path, but refuses files of a linked package. */
const LINKED = 'Vite serves no package that is linked: install the tarball of `npm pack`.';
