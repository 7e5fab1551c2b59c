import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { connectWebSocket } from 'caphost/agent';
import { WebSocket, WebSocketServer } from 'ws';
import { serveEnvelopes } from '../fixtures/plain-app/app.js';
import { launchPuppeteer } from '../support/browsers.mjs';
import { serveFiles } from '../support/static-server.mjs';
import { abandoned, codeOf, confirmed, settled } from './pages.mjs';

describe('connectWebSocket() to a plain ABP app', () => {
  /** @type {WebSocketServer} */
  let server;
  /** @type {string} */
  let url;
  before(async () => {
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket, request) => {
      const faults = { cancel: /** @type {any} */ (new URL(String(request.url), 'ws://x').searchParams.get('cancel') ?? undefined) };
      const { receive } = serveEnvelopes(faults, (envelope) => socket.send(JSON.stringify(envelope)));
      socket.on('message', (data, isBinary) => {
        assert.equal(isBinary, false);
        void receive(JSON.parse(String(data)));
      });
    });
    await once(server, 'listening');
    url = `ws://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}/abp`;
  });
  after(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });

  /** The server's end of the next connection. @returns {Promise<[WebSocket, import('node:http').IncomingMessage]>} */
  const next = () => /** @type {any} */ (once(server, 'connection'));

  test('opens a session, calls, cancels and shuts down', async () => {
    const connected = next();
    const agent = await connectWebSocket(url, { agent: { name: 'tester', version: '1' } });
    const [socket, request] = await connected;
    assert.equal(request.headers['sec-websocket-protocol'], undefined);
    assert.deepEqual((await agent.call('echo', { text: 'ü', n: null })).data, { text: 'ü', n: null });
    const stop = new AbortController();
    const info = await new Promise((onProgress) => { void agent.call('hold', {}, { callId: 'one', signal: stop.signal, onProgress }); });
    assert.equal(/** @type {any} */ (info).operationId, 'one');
    stop.abort('enough');
    const held = agent.call('hold', {}, { callId: 'two' });
    await settled(agent);
    assert.deepEqual(await agent.cancel('two'), confirmed('two', 'abandoned'));
    assert.deepEqual(await held, abandoned);
    assert.deepEqual(await agent.cancel('one'), confirmed('one', 'abandoned'));
    const closed = once(socket, 'close');
    await agent.shutdown();
    await closed;
    assert.equal(codeOf(await agent.call('echo')), 'NOT_INITIALIZED');
  });

  test('binary parameters go as ABP binary data', async () => {
    const agent = await connectWebSocket(url);
    const binary = { content: 'AQL+', mimeType: 'application/octet-stream', encoding: 'base64', size: 3 };
    const bytes = Uint8Array.of(1, 2, 254);
    const large = new Uint8Array(300_000).fill(7);
    const { data } = await agent.call('echo', { array: bytes, buffer: bytes.buffer, part: new Uint8Array([0, 1, 2, 254, 9]).subarray(1, 4), node: Buffer.from([1, 2, 254]), large });
    const { large: sent, ...rest } = data;
    assert.deepEqual(rest, { array: binary, buffer: binary, part: binary, node: binary });
    assert.equal(Buffer.from(sent.content, 'base64').length, 300_000);
    assert.equal(codeOf(await agent.call('echo', { big: 1n })), 'INVALID_PARAMS');
    assert.equal((await agent.call('echo')).success, true);
    await agent.shutdown();
  });

  test('strange frames are ignored', async () => {
    const connected = next();
    const agent = await connectWebSocket(url);
    const [socket] = await connected;
    for (const frame of ['', 'no JSON', '7', 'null', '[]', '{}', Buffer.from([1, 2, 3])]) socket.send(frame);
    assert.equal((await agent.call('echo')).success, true);
    await agent.shutdown();
  });

  test('a lost connection settles what is pending with DISCONNECTED', async () => {
    for (const lose of [(/** @type {WebSocket} */ it) => it.close(4001, 'gone'), (/** @type {WebSocket} */ it) => it.terminate()]) {
      const connected = next();
      const agent = await connectWebSocket(`${url}?cancel=never`);
      const [socket] = await connected;
      const held = agent.call('hold', {}, { callId: 'held' });
      await settled(agent);
      const cancel = agent.cancel('held');
      lose(socket);
      assert.equal(codeOf(await held), 'DISCONNECTED');
      assert.equal(codeOf(await cancel), 'DISCONNECTED');
      assert.equal(await agent.closed, 'disconnected');
    }
  });

  test('a connection that falls silent is noticed while a call is pending', async () => {
    const connected = next();
    const agent = await connectWebSocket(url, { liveness: 500 });
    const [socket] = await connected;
    const held = agent.call('hold', {}, { callId: 'held' });
    await agent.cancel('nothing');
    socket.pause();
    assert.equal(codeOf(await held), 'DISCONNECTED');
    socket.terminate();
  });

  test('a token goes as a subprotocol', async () => {
    const connected = next();
    const agent = await connectWebSocket(url, { token: 'secret' });
    const [, request] = await connected;
    assert.equal(request.headers['sec-websocket-protocol'], 'abp,caphost.token.secret');
    await agent.shutdown();
    await assert.rejects(connectWebSocket(url, { token: 'not a token' }), { code: 'INVALID_PARAMS' });
  });

  test('an address that cannot be connected to is refused', async (t) => {
    const http = createServer((_, response) => response.writeHead(401).end());
    http.on('upgrade', (_, socket) => socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n'));
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const { port } = /** @type {import('node:net').AddressInfo} */ (http.address());
    t.after(() => http.close());
    await assert.rejects(connectWebSocket(`ws://127.0.0.1:${port}/abp`), { code: 'DISCONNECTED', retryable: true });
    await assert.rejects(connectWebSocket('nonsense'), { code: 'INVALID_PARAMS' });
    await new Promise((resolve) => { http.close(resolve); });
    await assert.rejects(connectWebSocket(`ws://127.0.0.1:${port}/abp`), { code: 'DISCONNECTED' });
  });

  test('a failure to connect that is reported only by an error event ends the attempt at once', async () => {
    class Blocked extends EventTarget {
      readyState = 3;
      url = 'ws://blocked/';
      constructor() {
        super();
        setTimeout(() => this.dispatchEvent(new Event('error')));
      }

      close() {}
    }
    const began = performance.now();
    await assert.rejects(connectWebSocket('ws://blocked/', { WebSocket: Blocked }), { code: 'DISCONNECTED', message: /^The connection to ws:\/\/blocked\/ failed\. Is the gateway running\?/ });
    assert.ok(performance.now() - began < 5_000);
  });

  test('a constructor or a transport may be given', async () => {
    let made = 0;
    class Counted extends WebSocket {
      /** @param {string} to @param {string[]} [protocols] */
      constructor(to, protocols) {
        super(to, protocols);
        made += 1;
      }
    }
    const agent = await connectWebSocket(url, { WebSocket: Counted });
    assert.equal(made, 1);
    await agent.shutdown();

    /** @type {any} */
    const transport = { close() { transport.closed = true; } };
    const { receive } = serveEnvelopes({}, (envelope) => queueMicrotask(() => transport.onmessage?.(envelope)));
    transport.post = (/** @type {any} */ envelope) => void receive(envelope);
    const over = await connectWebSocket('', { transport });
    assert.deepEqual((await over.call('echo', { a: 1 })).data, { a: 1 });
    const held = over.call('hold');
    await settled(over);
    transport.onclose();
    assert.equal(codeOf(await held), 'DISCONNECTED');
    assert.equal(transport.closed, true);
  });

  test('works the same in a browser', async (t) => {
    const [browser, files] = await Promise.all([launchPuppeteer(), serveFiles()]);
    t.after(() => Promise.all([browser.close(), files.close()]));
    const page = await browser.newPage();
    await page.goto(files.url('/agent/'));
    const result = await page.evaluate(async (to) => {
      const client = /** @type {any} */ (window);
      await client.ready;
      const agent = await client.caphost.connectWebSocket(to);
      const { data } = await agent.call('echo', { bytes: Uint8Array.of(1, 2, 254) });
      const stop = new AbortController();
      const held = agent.call('hold', {}, { signal: stop.signal });
      await agent.call('echo');
      stop.abort();
      const response = await held;
      await agent.shutdown();
      const refused = await client.caphost.connectWebSocket('ws://127.0.0.1:9/').catch((/** @type {any} */ { code }) => code);
      return { data, response, refused };
    }, url);
    assert.deepEqual(result, { data: { bytes: { content: 'AQL+', mimeType: 'application/octet-stream', encoding: 'base64', size: 3 } }, response: abandoned, refused: 'DISCONNECTED' });
  });
});
