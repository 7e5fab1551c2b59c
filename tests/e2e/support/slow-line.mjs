import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds between two portions on a line. */
const PORTION = 50;

/**
 * A slow line to a port on this machine. It carries this many bytes per second in each direction.
 *
 * @param {number} port
 * @param {number} bytesPerSecond
 */
export async function startSlowLine(port, bytesPerSecond) {
  /** @type {Set<import('node:stream').Duplex>} */
  const streams = new Set();
  let dead = false;
  const slow = () => new Transform({
    highWaterMark: 4096,
    async transform(chunk, _, done) {
      const most = Math.ceil((bytesPerSecond * PORTION) / 1000);
      for (let at = 0; at < chunk.length; at += most) {
        const portion = chunk.subarray(at, at + most);
        await sleep((portion.length / bytesPerSecond) * 1000);
        if (dead) return;
        this.push(portion);
      }
      done();
    },
  });
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of /** @type {const} */ ([[near, far], [far, near]])) {
      streams.add(from);
      from.pipe(slow()).pipe(to);
      from.on('error', () => {});
      from.on('close', () => dead || to.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: /** @type {import('node:net').AddressInfo} */ (server.address()).port,
    /** Stops carrying data, without closing a connection. */
    die: () => {
      dead = true;
    },
    close: async () => {
      for (const stream of streams) stream.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
