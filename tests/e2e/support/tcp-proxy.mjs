import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/**
 * A wire between a page and a gateway that a test can cut.
 *
 * @param {() => number} port the port on this machine that the wire leads to
 */
export async function startTcpProxy(port) {
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set();
  /** @type {Set<import('node:net').Socket>} */
  const pages = new Set();
  let whole = true;
  const server = createServer((near) => {
    if (!whole) return near.resetAndDestroy();
    const far = connect(port(), '127.0.0.1');
    pages.add(near);
    near.on('close', () => pages.delete(near));
    for (const [from, to] of /** @type {const} */ ([[near, far], [far, near]])) {
      sockets.add(from);
      from.setNoDelay(true);
      from.pipe(to);
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
    return undefined;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: address.port,
    /** Breaks all connections. New connections work. */
    cut,
    /** Breaks all connections, and refuses new ones until it is repaired. */
    sever: () => {
      whole = false;
      cut();
    },
    mend: () => {
      whole = true;
    },
    /** Stops carrying the pages' data on existing connections, and does not pass on their end. */
    stall: () => {
      for (const near of pages) near.unpipe().pause();
    },
    close: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
