import { get } from 'node:http';
import { createServer } from 'node:net';

const every = 500;

/** @returns {Promise<number>} a port that nobody listens on */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}

/**
 * Keeps the server of wasm-bindgen's test runner from starving a browser. Its pool of threads may
 * take two connections for one idle thread; the second then waits until another connection ends,
 * and a browser that loads many modules at once ends none of its own. Each short connection made
 * here ends, and its thread takes whichever waits.
 *
 * @param {number} port where the server is, or will be
 * @returns {() => void} stops it
 */
export function keepServing(port) {
  const timer = setInterval(() => {
    get({ port, host: '127.0.0.1', agent: false, timeout: every }, (response) => response.resume())
      // There is none yet, or no more.
      .on('error', () => {});
  }, every);
  return () => clearInterval(timer);
}
