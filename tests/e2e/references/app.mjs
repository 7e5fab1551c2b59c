// An app in Node whose results refer to files of its own, as a page refers to its Blobs.

import { createHost } from 'caphost';

/** @import { Gateway } from '../support/gateway.mjs' */

/**
 * A file that is made while it is read.
 *
 * @typedef {object} Source
 * @property {string} url
 * @property {number} size
 * @property {number} made how many bytes the page has read so far
 * @property {Promise<unknown>} cancelled fulfils when the page stops to read
 */

/** @type {Map<string, (signal?: AbortSignal | null) => Response>} */
const sources = new Map();
const { fetch } = globalThis;
globalThis.fetch = async (input, init) => (sources.get(String(input)) ?? (() => fetch(input, init)))(init?.signal);

/** The bytes that a file repeats. Their number is no multiple of a chunk. */
const PATTERN = Buffer.from(Uint8Array.from({ length: 1_000_003 }, (_, at) => (at * 31 + (at >> 12)) & 255));
const TWICE = Buffer.concat([PATTERN, PATTERN]);

/** The bytes of a file from that place on, a million at most. @param {number} from @param {number} length */
const bytes = (from, length) => TWICE.subarray(from % PATTERN.length, (from % PATTERN.length) + length);

/** Makes a file of that size at a `blob:` URL. @param {number} size @param {number} [chunk] @returns {Source} */
export function newSource(size, chunk = 64 << 10) {
  /** @type {(reason: unknown) => void} */
  let cancel = () => {};
  const cancelled = new Promise((resolve) => { cancel = resolve; });
  const source = { url: `blob:http://page/${sources.size}`, size, made: 0, cancelled };
  sources.set(source.url, (signal) => {
    source.made = 0;
    signal?.addEventListener('abort', () => cancel(signal.reason));
    const body = new ReadableStream({
      pull(controller) {
        const length = Math.min(chunk, size - source.made);
        if (length === 0) return controller.close();
        controller.enqueue(new Uint8Array(bytes(source.made, length)));
        source.made += length;
      },
      cancel,
    }, { highWaterMark: 0 });
    return new Response(body, { headers: { 'content-length': String(size), 'content-type': 'application/zip' } });
  });
  return source;
}

/** Checks that these are the bytes of a file from that place on. @param {Uint8Array} them @param {number} from */
export const areBytes = (them, from = 0) => bytes(from, them.length).equals(them);

/**
 * An app with `file`, which refers to the file at `url`; `pdf` and `text`, whose results have so many bytes; and
 * `echo`.
 *
 * @param {Gateway} gateway
 * @param {{ token?: string }} [options]
 */
export async function startApp(gateway, { token } = {}) {
  const host = await createHost({ app: { id: 'files', name: 'Files', version: '1' } });
  host.register('file', {}, async (/** @type {any} */ { url, size, filename = 'Größe 1.zip' }) => ({ downloadUrl: url, mimeType: 'application/zip', size, filename }));
  host.register('pdf', {}, async (/** @type {any} */ { size }) => ({ pdf: Buffer.alloc(size, PATTERN).toString('base64'), mimeType: 'application/pdf', filename: 'a.pdf', pages: 1 }));
  host.register('text', {}, async (/** @type {any} */ { size }) => 'é'.repeat(size / 2));
  host.register('rows', {}, async (/** @type {any} */ { size }) => ({ rows: ['x'.repeat(size)] }));
  host.register('echo', {}, async (/** @type {any} */ params) => params);
  const connected = new Promise((resolve) => host.observe((/** @type {any} */ event) => event.state === 'connected' && resolve(event)));
  host.connectGateway(`${gateway.wsUrl}/abp/app`, { token });
  await connected;
  return host;
}

/** Reads the whole body of a response, and checks each byte. @param {Response} response @param {number} size */
export async function isWhole(response, size) {
  let at = 0;
  for await (const chunk of /** @type {any} */ (response.body)) {
    for (let from = 0; from < chunk.length; from += 1e6) {
      const part = chunk.subarray(from, from + 1e6);
      if (!areBytes(part, at)) return false;
      at += part.length;
    }
  }
  return at === size;
}
