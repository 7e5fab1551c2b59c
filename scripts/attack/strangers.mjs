import { again, envelope, head, hold, open, raw, request } from './sockets.mjs';

/** @typedef {import('./sockets.mjs').Target} Target */

/** Attacks by clients that reach the gateway and have no token. @type {Record<string, (target: Target) => Promise<void>>} */
export const strangers = {
  'sockets that never register': (target) => hold(target, { most: 1000, pause: 4 }, () => open(target, '/abp/app')),

  'messages that never end': (target) => hold(target, { most: 12, pause: 100 }, async () => {
    const socket = await open(target, '/abp/app');
    const stream = /** @type {any} */ (socket)?._socket;
    if (!socket || !stream) return socket;
    // The head of a masked text frame that announces 249 MiB. As much of the frame follows as the
    // gateway takes.
    const start = Buffer.alloc(14);
    start.set([0x81, 0x80 | 127]);
    start.writeBigUInt64BE(249n << 20n, 2);
    stream.write(start);
    const part = Buffer.alloc(64 * 1024, ' ');
    const more = () => {
      while (!stream.destroyed && stream.write(part));
    };
    stream.on('drain', more);
    more();
    return socket;
  }),

  'half requests': (target) => hold(target, { most: 1100, pause: 4 }, async () => {
    target.count('tried');
    return raw(target, 'GET / HTTP/1.1\r\nHost: 127.0.0.1');
  }),

  'half bodies': (target) => hold(target, { most: 200, pause: 20 }, async () => {
    target.count('tried');
    return raw(target, `${head(target, 'POST /mcp', { 'Content-Type': 'application/json', 'Content-Length': '100000' })}{`);
  }),

  'answers that nobody reads': (target) => hold(target, { most: 400, pause: 10 }, async () => {
    target.count('tried');
    return raw(target, head(target, 'GET /large').repeat(20)).pause();
  }),

  'wrong hosts with long paths': (target) => again(target, 5, () => request(target, `POST /mcp/${'x'.repeat(12_000)}`, { Host: 'y'.repeat(12_000) })),

  'foreign origins': (target) => again(target, 10, () => request(target, 'POST /mcp', { Origin: `http://evil.example/${'o'.repeat(4000)}` }, '{}')),

  'guesses at the secrets of tokens': (target) => again(target, 5, (round) => request(target, 'GET /api/runs', { Authorization: `Bearer guess-${round}` })),

  'guesses at sessions of apps': (target) => again(target, 10, async (round) => {
    const socket = await open(target, '/abp/app');
    if (!socket) return;
    const closed = new Promise((resolve) => { socket.once('close', resolve); });
    // The first guess must close the socket before the second guess arrives.
    for (const guess of ['a', 'b']) socket.send(envelope('app/resume', { resume: `guess-${round}-${guess}`, received: 0 }));
    await closed;
  }),

  'the list of what apps offer': (target) => again(target, 20, () => request(target, 'GET /abp.json')),

  'a flood of requests': (target) => Promise.all(Array.from({ length: 4 }, () => again(target, 1, () => request(target, 'GET /')))).then(() => {}),
};
