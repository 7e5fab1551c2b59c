import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** Time between two portions that a line carries, in milliseconds. */
const PORTION = 50;

/**
 * A slow line to a port of this machine. Both ways carry so many bytes a second each.
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
    /** Carries nothing more, and does not say so. */
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
