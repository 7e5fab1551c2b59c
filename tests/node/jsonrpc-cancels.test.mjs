import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newHost, plainAgent } from './host.mjs';

const GIVEN_UP = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 0 } };
const CANCEL = { jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 0 } };

/** @param {() => boolean} holds */
async function until(holds) {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** The gateway has the same test: gateway/tests/gateway/jsonrpc.rs. */
test('a request that was given up is not answered, for any other cancels before or after', async (t) => {
  const host = await newHost();
  let ended = 0;
  // The handler ends when all cancels have arrived.
  host.register('hold', {}, (_params, { signal }) => new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => setTimeout(() => {
      ended += 1;
      reject(signal.reason);
    }, 20));
  }));
  let calls = 0;
  for (const [cancels, answered] of /** @type {[object[], boolean][]} */ ([
    [[GIVEN_UP, CANCEL], false], [[CANCEL, GIVEN_UP], false], [[GIVEN_UP, CANCEL, GIVEN_UP], false], [[CANCEL, CANCEL], true],
  ])) {
    calls += 1;
    const { port1, port2 } = new MessageChannel();
    t.after(() => port1.close());
    host.acceptPort(port2);
    const peer = plainAgent((message) => port1.postMessage(message));
    port1.onmessage = ({ data }) => peer.receive(data);
    port1.postMessage({ jsonrpc: '2.0', id: 0, method: '_capabilities/call', params: { capability: 'hold' } });
    await until(() => host.stats().contexts === 1);
    for (const cancel of cancels) port1.postMessage(cancel);
    await until(() => ended === calls);
    port1.postMessage({ jsonrpc: '2.0', id: 'last', method: '_capabilities/call', params: { capability: 'none' } });
    await peer.hear(({ id }) => id === 'last');
    const codes = peer.heard.filter(({ id }) => id === 0).map(({ error }) => error?.code);
    assert.deepEqual(codes, answered ? [-32800] : [], JSON.stringify(cancels));
  }
});
