import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectPort, extensionPorts, newHost } from './host.mjs';

const binary = (/** @type {number[]} */ ...bytes) =>
  ({ content: Buffer.from(bytes).toString('base64'), mimeType: 'application/octet-stream', encoding: 'base64', size: bytes.length });

async function overExtension() {
  const host = await newHost();
  const [one, other] = extensionPorts();
  host.acceptPort(/** @type {any} */ (one));
  return { host, agent: await connectPort(/** @type {any} */ (other)) };
}

test("binary data over an extension's port is ABP's binary object, in both directions", async () => {
  const { host, agent } = await overExtension();
  /** @type {any} */
  let got;
  host.register('bytes', {}, (params) => {
    got = params;
    return { buffer: Uint8Array.of(1, 2, 3).buffer, list: [Uint8Array.of(4, 5)], view: new DataView(Uint8Array.of(6, 7).buffer, 1) };
  });
  const { success, data } = await agent.call('bytes', { buffer: Uint8Array.of(9).buffer, view: Uint16Array.of(0x0201) });
  assert.deepEqual(got, { buffer: binary(9), view: binary(1, 2) });
  assert.deepEqual([success, data], [true, { buffer: binary(1, 2, 3), list: [binary(4, 5)], view: binary(7) }]);
});

test("an extension's port reports a value that JSON cannot express, and never delivers it as something else", async () => {
  const { host, agent } = await overExtension();
  host.register('map', {}, () => ({ map: new Map([['a', 1]]) }));
  host.register('echo', {}, (params) => params);
  const failed = await agent.call('map');
  assert.equal(failed.error?.code, 'OPERATION_FAILED');
  assert.match(failed.error?.message ?? '', /cannot be sent: .*Map/);
  const unsendable = await agent.call('echo', { set: new Set() });
  assert.equal(unsendable.error?.code, 'INVALID_PARAMS');
  assert.match(unsendable.error?.message ?? '', /cannot be sent: .*Set/);
  assert.deepEqual((await agent.call('echo', { a: 1 })).data, { a: 1 });
});

test("an extension's service worker that wakes while the first message is under way is connected as soon as its host is there", async () => {
  const [one, other] = extensionPorts();
  const connecting = connectPort(/** @type {any} */ (other));
  // Until the other end exists, nobody listens, and messages are lost.
  await new Promise((resolve) => setTimeout(resolve, 150));
  const host = await newHost();
  host.register('echo', {}, (params) => params);
  host.acceptPort(/** @type {any} */ (one));
  const agent = await connecting;
  assert.deepEqual((await agent.call('echo', { a: 1 })).data, { a: 1 });
  assert.equal(host.stats().sessions, 1);
  await agent.shutdown();
});

test("an extension's port that breaks during a repeated initialize is reported, and nothing else is thrown", async () => {
  const [, other] = /** @type {any[]} */ (extensionPorts());
  let asked = 0;
  other.postMessage = () => {
    if ((asked += 1) > 1) throw new Error('Attempting to use a disconnected port object');
  };
  await assert.rejects(connectPort(/** @type {any} */ (other)), { code: 'INVALID_PARAMS', message: /^initialize cannot be sent: .*disconnected port/ });
});
