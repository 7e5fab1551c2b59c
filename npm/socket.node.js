/**
 * Node 20 has no WebSocket of its own. The WebSocket of the package `ws` takes its place, if that package
 * is installed.
 */
import { createRequire } from 'node:module';
import { socketFrom } from '../src/web/js/socket.js';

socketFrom(() => globalThis.WebSocket ?? installed());

function installed() {
  try {
    const { WebSocket } = createRequire(import.meta.url)('ws');
    return class extends WebSocket {
      /** @param {string} url @param {string[]} [protocols] */
      constructor(url, protocols) {
        // Browsers and Node send this header. With it, a gateway that refuses tells its reason over the
        // WebSocket.
        super(url, protocols, { headers: { 'Sec-Fetch-Mode': 'websocket' } });
        // Without a listener, an error would end the process. A browser's WebSocket never does that.
        this.on('error', (/** @type {Error} */ error) => {
          this.cause = error;
        });
      }
    };
  } catch {
    return undefined;
  }
}
