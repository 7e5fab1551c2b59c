/** Node 20 has no WebSocket of its own: that of the package `ws` serves, if it is installed. */
import { createRequire } from 'node:module';
import { socketFrom } from '../src/web/js/socket.js';

socketFrom(() => globalThis.WebSocket ?? installed());

function installed() {
  try {
    const { WebSocket } = createRequire(import.meta.url)('ws');
    return class extends WebSocket {
      /** @param {any[]} given */
      constructor(...given) {
        super(...given);
        // Without a listener an error would end the process, as no WebSocket of a browser does.
        this.on('error', () => {});
      }
    };
  } catch {
    return undefined;
  }
}
