/** Node 20 has no WebSocket of its own: that of the package `ws` serves, if it is installed. */
import { createRequire } from 'node:module';
import { socketFrom } from '../src/web/js/socket.js';

socketFrom(() => globalThis.WebSocket ?? installed());

function installed() {
  try {
    const { WebSocket } = createRequire(import.meta.url)('ws');
    return class extends WebSocket {
      /** @param {string} url @param {string[]} [protocols] */
      constructor(url, protocols) {
        // As browsers and Node send it: a gateway then says over the WebSocket why it refuses.
        super(url, protocols, { headers: { 'Sec-Fetch-Mode': 'websocket' } });
        // Without a listener an error would end the process, as no WebSocket of a browser does.
        this.on('error', () => {});
      }
    };
  } catch {
    return undefined;
  }
}
