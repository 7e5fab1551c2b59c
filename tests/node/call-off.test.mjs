import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { test } from 'node:test';
import { connectPort, connectWebSocket } from 'caphost/agent';
import { WebSocketServer } from 'ws';
import { newHost } from './host.mjs';

const soon = (/** @type {number} */ milliseconds = 20) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test('a signal aborts the connecting: it rejects with the signal\'s reason, and nothing is left', async () => {
  const { port1, port2 } = new MessageChannel();
  const controller = new AbortController();
  const { signal } = controller;
  const connecting = connectPort(/** @type {any} */ (port2), { signal });
  await soon();
  controller.abort(new Error('enough'));
  await assert.rejects(connecting, { message: 'enough' });
  assert.deepEqual([getEventListeners(signal, 'abort').length, getEventListeners(port2, 'message').length], [0, 0]);
  // A host that learns of the agent later keeps no session.
  const host = await newHost();
  host.acceptPort(port1);
  await soon();
  assert.equal(host.stats().sessions, 0);
  const agent = await connectPort(/** @type {any} */ (port2));
  assert.equal(host.stats().sessions, 1);
  await agent.shutdown();
});

test('with a signal that has fired nothing begins, also if it fires while the module loads', async () => {
  /** @type {any[]} */
  const posted = [];
  const port = { postMessage: (/** @type {any} */ message) => posted.push(message), addEventListener() {}, removeEventListener() {} };
  await assert.rejects(connectPort(port, { signal: AbortSignal.abort('before') }), (reason) => reason === 'before');
  const controller = new AbortController();
  const connecting = connectPort(port, { signal: controller.signal });
  controller.abort();
  await assert.rejects(connecting, { name: 'AbortError' });
  await soon();
  assert.deepEqual(posted, []);
});

test('a signal that fires once the agent is connected changes nothing, and is not held', async () => {
  const host = await newHost();
  host.register('echo', {}, (params) => params);
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const controller = new AbortController();
  const agent = await connectPort(/** @type {any} */ (port2), { signal: controller.signal });
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
  controller.abort();
  assert.deepEqual((await agent.call('echo', { a: 1 })).data, { a: 1 });
  await agent.shutdown();
});

test('a socket whose connecting is aborted is closed, whether it was open or not', async (t) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  t.after(() => server.close());
  await once(server, 'listening');
  const url = `ws://127.0.0.1:${/** @type {any} */ (server.address()).port}`;
  for (const wait of [true, false]) {
    const controller = new AbortController();
    const come = once(server, 'connection');
    const connecting = connectWebSocket(url, { signal: controller.signal });
    const refused = assert.rejects(connecting, { name: 'AbortError' });
    if (wait) {
      const [socket] = await come;
      const closed = once(socket, 'close');
      controller.abort();
      await closed;
    } else {
      await Promise.resolve();
      controller.abort();
    }
    await refused;
    await soon(100);
    assert.equal(server.clients.size, 0);
  }
});

test('a value that is no signal is refused', async () => {
  const { port2 } = new MessageChannel();
  await assert.rejects(connectPort(/** @type {any} */ (port2), /** @type {any} */ ({ signal: {} })), { code: 'INVALID_PARAMS', message: 'signal must be an AbortSignal' });
  port2.close();
});
