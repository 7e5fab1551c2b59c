import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';
import { request } from '../../../scripts/attack/sockets.mjs';

test('an attack goes on after the gateway has reset a connection', async (t) => {
  const server = createServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const counts = { tried: 0, refused: 0 };
  const end = new AbortController();
  t.after(() => end.abort());
  const target = { port, from: '127.0.0.1', signal: end.signal, secrets: { agent: '', app: '' }, count: (/** @type {'tried' | 'refused'} */ what) => { counts[what] += 1; } };
  assert.equal(await request(target, 'GET /'), 0);
  assert.deepEqual(counts, { tried: 1, refused: 1 });
});
