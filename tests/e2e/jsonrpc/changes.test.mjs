// A JSON-RPC peer of all apps hears of apps that come, go and change, if it wants to, and learns that an app is away.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { createHost } from 'caphost';
import { WebSocket } from 'ws';
import { startGateway } from '../support/gateway.mjs';

/** @type {import('../support/gateway.mjs').Gateway} */
let gateway;
before(async () => { gateway = await startGateway(); });
after(() => gateway.stop());

/** An app with a capability of its own. @param {string} id */
async function startApp(id) {
  const host = await createHost({ app: { id, name: id, version: '1' } });
  host.register(`${id}.open`, {}, async () => id);
  const connected = new Promise((resolve) => host.observe((/** @type {any} */ event) => event.state === 'connected' && resolve(event)));
  host.connectGateway(`${gateway.wsUrl}/abp/app`);
  await connected;
  return host;
}

/** A peer of all apps that says hello so. @param {any} hello */
async function connect(hello) {
  const socket = new WebSocket(`${gateway.wsUrl}/jsonrpc`);
  await once(socket, 'open');
  /** @type {any[]} */
  const heard = [];
  /** @type {Map<number, (message: any) => void>} */
  const waiting = new Map();
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    if (message.method) heard.push(message);
    else waiting.get(message.id)?.(message);
  });
  let id = 0;
  const ask = (/** @type {string} */ method, /** @type {any} */ params) => new Promise((resolve) => {
    waiting.set(id += 1, resolve);
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  });
  await ask('initialize', hello);
  return {
    heard,
    /** @returns {Promise<string[]>} */
    names: async () => (await ask('_capabilities/list', undefined)).result.capabilities.map((/** @type {any} */ { name }) => name).sort(),
    /** @param {string} capability @returns {Promise<any>} */
    call: (capability) => ask('_capabilities/call', { capability }),
    /** Waits until so many notifications were heard. @param {number} count */
    hears: async (count) => { while (heard.length < count) await new Promise(setImmediate); },
    close: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
}

test('changes are told to the peer that wants them, and a capability of an app that is away is DISCONNECTED', { timeout: 30_000 }, async () => {
  const one = await startApp('one');
  const acp = await connect({ protocolVersion: 1, clientCapabilities: { _capabilities: { listChanged: true } } });
  const lsp = await connect({ capabilities: { _capabilities: { listChanged: true } } });
  const quiet = await connect({ capabilities: {} });
  const changed = { jsonrpc: '2.0', method: '_capabilities/list_changed', params: {} };

  const two = await startApp('two');
  for (const peer of [acp, lsp]) {
    await peer.hears(1);
    assert.deepEqual(await peer.names(), ['one.open', 'two.open']);
  }
  assert.equal((await acp.call('two.open')).result.data, 'two');

  two.register('two.close', {}, async () => 'closed');
  await acp.hears(2);
  assert.deepEqual(await acp.names(), ['one.open', 'two.close', 'two.open']);

  two.close();
  await acp.hears(3);
  assert.deepEqual(await acp.names(), ['one.open']);
  const { code, message, data } = (await acp.call('two.open')).error;
  assert.deepEqual([code, data.code, data.retryable], [-32000, 'DISCONNECTED', true]);
  assert.match(message, /^The app "two", which had "two.open", is not connected/);
  assert.equal((await acp.call('two.nothing')).error.data.code, 'UNKNOWN_CAPABILITY');

  const again = await startApp('two');
  await acp.hears(4);
  assert.equal((await acp.call('two.open')).result.data, 'two');

  assert.deepEqual(acp.heard, Array.from({ length: 4 }, () => changed));
  assert.deepEqual(quiet.heard, []);
  await Promise.all([acp, lsp, quiet].map((peer) => peer.close()));
  await Promise.all([one, again].map((host) => host.close()));
});
