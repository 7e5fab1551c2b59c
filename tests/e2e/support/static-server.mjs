import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import { packageDir, root } from '../../../scripts/paths.mjs';

/** @type {Record<string, string>} */
const contentTypes = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/**
 * @typedef {object} StaticServer
 * @property {string} origin such as `http://127.0.0.1:40124`
 * @property {(path: string) => string} url
 * @property {() => Promise<void>} close
 *
 * @typedef {{ body: string | Uint8Array, contentType?: string, headers?: Record<string, string> }} Page
 */

/**
 * Serves test pages: the built package under `/caphost/`, and each folder of `tests/e2e/fixtures`
 * under its own name, so `tests/e2e/fixtures/parent/index.html` is at `/parent/`.
 *
 * @param {object} [options]
 * @param {Record<string, string>} [options.folders] further folders, by the path at which they are served
 * @param {Record<string, Page | string>} [options.pages] pages by their path; a string is HTML
 * @param {Record<string, string>} [options.headers] sent with every answer
 * @returns {Promise<StaticServer>} a server on its own port, and thus with its own origin
 */
export async function serveFiles({ folders = {}, pages = {}, headers = {} } = {}) {
  /** @type {Record<string, string>} */
  const served = { '/caphost/': packageDir, '/': join(root, 'tests', 'e2e', 'fixtures'), ...folders };
  const prefixes = Object.keys(served).sort((a, b) => b.length - a.length);

  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page !== undefined) {
      const { body, contentType = 'text/html; charset=utf-8', headers: own } = typeof page === 'string' ? { body: page, contentType: undefined, headers: {} } : page;
      response.writeHead(200, { 'content-type': contentType, ...headers, ...own }).end(body);
      return;
    }
    const prefix = prefixes.find((candidate) => path.startsWith(candidate));
    const file = prefix === undefined ? undefined : fileAt(String(served[prefix]), path.slice(prefix.length));
    if (file === undefined) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found');
      return;
    }
    // Files are cached so that a browser compiles them only once. Pages are not, so that the back
    // button never restores one.
    const caching = extname(file) === '.html' ? 'no-store' : 'max-age=600';
    response.writeHead(200, { 'content-type': contentTypes[extname(file)] ?? 'application/octet-stream', 'cache-control': caching, ...headers });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const origin = `http://127.0.0.1:${address.port}`;
  return {
    origin,
    url: (path) => new URL(path, origin).href,
    close: () => new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
  };
}

/** Starts two servers of the same files, which are two origins. @param {Parameters<typeof serveFiles>[0]} [options] */
export async function serveTwoOrigins(options) {
  const [first, second] = await Promise.all([serveFiles(options), serveFiles(options)]);
  return {
    first,
    second,
    close: async () => {
      await Promise.all([first.close(), second.close()]);
    },
  };
}

/** @param {string} folder @param {string} path @returns {string | undefined} */
function fileAt(folder, path) {
  let file = normalize(join(folder, path));
  if (file !== folder && !file.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return undefined;
  const kind = statSync(file, { throwIfNoEntry: false });
  if (kind?.isFile()) return file;
  if (!kind?.isDirectory()) return undefined;
  file = join(file, 'index.html');
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? file : undefined;
}
