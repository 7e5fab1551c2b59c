// Connections that are slow, stand still, or end because of a protocol violation, seen by real clients
// of a real gateway.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHost } from 'caphost';
import { connectWebSocket } from 'caphost/agent';
import WebSocket from 'ws';
import { startGateway } from '../support/gateway.mjs';

const impatient = ['--ping-interval', '500ms', '--dead-peer-timeout', '3s'];

/** Connects an app to the gateway. @param {string} wsUrl */
async function app(wsUrl) {
  const host = await createHost({ app: { id: 'lab', name: 'Lab', version: '1' } });
  host.register('text', { description: 'So many characters', inputSchema: { type: 'object' } }, async ({ length }) => 'x'.repeat(length));
  host.register('length', { description: 'How many characters', inputSchema: { type: 'object' } }, async ({ text }) => text.length);
  host.register('later', { description: 'Waits', inputSchema: { type: 'object' } }, ({ after }) => sleep(after, 'done'));
  /** @type {string[]} */
  const states = [];
  const connected = new Promise((/** @type {(value: void) => void} */ resolve) => {
    host.observe((event) => {
      if (event.type !== 'gateway') return;
      states.push(event.state);
      if (event.state === 'connected') resolve();
    });
  });
  host.connectGateway(`${wsUrl}/abp/app`);
  await connected;
  return { host, states };
}

/**
 * A wire that carries this many bytes per second each way, and buffers little.
 *
 * @param {number} port
 * @param {number} pace
 */
async function slowWire(port, pace) {
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set();
  const part = Math.ceil(pace / 20);
  const server = createServer({ highWaterMark: part }, (near) => {
    const far = connect(/** @type {any} */ ({ port, host: '127.0.0.1', highWaterMark: part }));
    for (const [from, to] of /** @type {const} */ ([[near, far], [far, near]])) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => to.destroy());
      void (async () => {
        for await (const bytes of from) {
          to.write(bytes);
          await sleep(bytes.length / pace * 1000);
        }
      })().catch(() => {});
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    wsUrl: `ws://127.0.0.1:${own}`,
    url: `http://127.0.0.1:${own}`,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

test('a result that takes several times the dead-peer timeout arrives, up from the app and down to ABP and MCP', { timeout: 120_000 }, async () => {
  const gateway = await startGateway({ args: impatient });
  const wire = await slowWire(gateway.port, 500_000);
  const { host, states } = await app(wire.wsUrl);
  try {
    const length = 4_000_000;
    const agent = await connectWebSocket(`${gateway.wsUrl}/abp?app=lab`);
    const sent = await agent.call('text', { length });
    assert.equal(sent.success && sent.data.length, length);
    const { data } = await agent.call('length', { text: 'x'.repeat(length) });
    assert.equal(data, length);
    assert.deepEqual(states.filter((it) => it !== 'connecting'), ['connected']);
    await agent.shutdown();
    const called = await fetch(`${wire.url}/mcp/lab`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-06-18', 'Mcp-Session-Id': await mcpSession(gateway.url) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'text', arguments: { length: length / 4 } } }),
    });
    const text = await called.text();
    assert.ok(text.includes('x'.repeat(length / 4)), text.slice(0, 300));
  } finally {
    host.close();
    wire.close();
    await gateway.stop('SIGKILL');
  }
});

/** @param {string} url */
async function mcpSession(url) {
  const answer = await fetch(`${url}/mcp/lab`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'lab', version: '1' } } }),
  });
  await answer.text();
  return answer.headers.get('mcp-session-id') ?? '';
}

test('after a standstill peers are asked before they are given up, and their calls continue', { timeout: 60_000 }, async () => {
  const gateway = await startGateway({ args: [...impatient, '--app-grace', '0'] });
  const { host, states } = await app(gateway.wsUrl);
  try {
    // A peer that only answers pings.
    const plain = new WebSocket(`${gateway.wsUrl}/jsonrpc?app=lab`);
    await once(plain, 'open');
    const agent = await connectWebSocket(`${gateway.wsUrl}/abp?app=lab`);
    for (let round = 0; round < 3; round += 1) {
      const call = agent.call('later', { after: 5500 });
      // The delay varies, to hit every phase of asking and waiting.
      await sleep(100 + 300 * round);
      process.kill(gateway.pid, 'SIGSTOP');
      await sleep(4500);
      process.kill(gateway.pid, 'SIGCONT');
      assert.equal((await call).data, 'done');
    }
    assert.deepEqual(states.filter((it) => it !== 'connecting'), ['connected']);
    assert.equal(plain.readyState, plain.OPEN);
    await agent.shutdown();
  } finally {
    host.close();
    await gateway.stop('SIGKILL');
  }
});

/** A frame of a client, masked with zeros. @param {number} first the first byte @param {Buffer} payload */
function frame(first, payload) {
  const length = payload.length < 126 ? [0x80 | payload.length] : [0x80 | 127, 0, 0, 0, 0, ...new Uint8Array(new Uint32Array([payload.length]).buffer).reverse()];
  return Buffer.concat([Buffer.from([first, ...length, 0, 0, 0, 0]), payload]);
}

for (const [what, bytes, code] of /** @type {[string, Buffer, number][]} */ ([
  ['a frame with reserved bits', frame(0xf1, Buffer.from('x')), 1002],
  ['a frame of an unknown kind', frame(0x8b, Buffer.from('x')), 1002],
  ['a frame that is not masked', Buffer.from([0x81, 1, 120]), 1002],
  ['text that is not UTF-8', frame(0x81, Buffer.from([0xff, 0xff])), 1007],
  ['a message that is too large', frame(0x81, Buffer.alloc(3_000_000, 'x')), 1009],
])) {
  test(`after ${what} the connection is closed as soon as the peer has answered, and is not reset before`, { timeout: 20_000 }, async () => {
    const gateway = await startGateway({ args: ['--max-message-bytes', '1MiB', '--max-frame-bytes', '2MiB'] });
    try {
      for (const waits of [0, 300]) {
        const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
        const ended = once(socket, 'close');
        socket.write(`GET /abp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\n\r\n`);
        await once(socket, 'data');
        socket.write(bytes);
        // Data that was under way when the client violated the protocol.
        socket.write(frame(0x81, Buffer.alloc(100_000, 'y')));
        /** @type {Error[]} */
        const errors = [];
        socket.on('error', (error) => errors.push(error));
        const [said] = await once(socket, 'data');
        assert.equal(said[0], 0x88);
        assert.equal(said.readUInt16BE(2), code);
        await sleep(waits);
        const asked = performance.now();
        socket.end(frame(0x88, said.subarray(2, 4)));
        await ended;
        assert.deepEqual(errors, []);
        assert.ok(performance.now() - asked < 1000, `${performance.now() - asked} ms`);
      }
      // The same, seen by an ordinary client.
      const client = new WebSocket(`${gateway.wsUrl}/abp`);
      await once(client, 'open');
      /** @type {any} */ (client)._socket.write(bytes);
      const began = performance.now();
      const [closed] = await once(client, 'close');
      assert.equal(closed, code);
      assert.ok(performance.now() - began < 1000, `${performance.now() - began} ms`);
    } finally {
      await gateway.stop('SIGKILL');
    }
  });
}
