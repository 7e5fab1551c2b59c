import { connect, createServer } from 'node:net';

/**
 * A TCP load balancer: each new connection goes to the first server that accepts it.
 *
 * @template {{ port: number }} Server
 * @param {readonly Server[]} servers
 */
export async function startBalancer(servers) {
  /** @type {Server | undefined} */
  let latest;
  /** @type {Set<import('node:net').Socket>} */
  const open = new Set();
  /** @param {import('node:net').Socket} client @param {readonly Server[]} left */
  const join = (client, [first, ...rest]) => {
    if (first === undefined) return client.destroy();
    const server = connect(first.port, '127.0.0.1');
    const refused = () => join(client, rest);
    server.once('error', refused);
    server.once('connect', () => {
      server.off('error', refused);
      latest = first;
      for (const [one, other] of [[client, server], [server, client]]) {
        open.add(/** @type {any} */ (one));
        one?.on('error', () => {});
        one?.once('close', () => {
          open.delete(/** @type {any} */ (one));
          other?.destroy();
        });
      }
      client.pipe(server).pipe(client);
    });
    return undefined;
  };
  const listener = createServer({ pauseOnConnect: true }, (client) => {
    client.on('error', () => {});
    join(client, servers);
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (listener.address());
  return {
    wsUrl: `ws://127.0.0.1:${port}`,
    /** The server that has the latest connection. */
    get latest() {
      return latest;
    },
    close: () => new Promise((resolve) => {
      listener.close(resolve);
      for (const socket of open) socket.destroy();
    }),
  };
}
