import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createHost } from 'caphost';
import WebSocket from 'ws';
import { startGateway } from '../support/gateway.mjs';
import { runInitializeVector, vectors } from '../support/initialize-vectors.mjs';
import { wireDriver } from '../support/wire-driver.mjs';

/** @type {Awaited<ReturnType<typeof startGateway>>} */
let gateway;
/** @type {import('caphost').Host} */
let host;

before(async () => {
  gateway = await startGateway();
  host = await createHost({ app: { id: 'vectors', name: 'Vectors', version: '1' } });
  const connected = new Promise((resolve) => host.observe((event) => {
    if (event.type === 'gateway' && event.state === 'connected') resolve(undefined);
  }));
  host.connectGateway(`${gateway.wsUrl}/abp/app`);
  await connected;
});
after(async () => {
  host?.close();
  await gateway?.stop();
});

/** A plain agent on a WebSocket. */
async function plainAgent() {
  const socket = new WebSocket(`${gateway.wsUrl}/abp?app=vectors`);
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const post = (/** @type {any} */ envelope) => socket.send(JSON.stringify(envelope));
  const driver = wireDriver(post);
  socket.on('message', (data) => driver.receive(JSON.parse(String(data))));
  return { ...driver, post, close: () => socket.close() };
}

for (const vector of vectors) {
  test(`through a gateway: ${vector.name}`, async () => {
    const agent = await plainAgent();
    try {
      await runInitializeVector(vector, host, agent);
    } finally {
      agent.close();
    }
  });
}

test('each agent of an app gets the capabilities that it has requested', async () => {
  for (const name of ['one', 'two']) host.register(name, { replace: true }, () => name);
  const [first, second] = [await plainAgent(), await plainAgent()];
  const initialize = (/** @type {string[]} */ names) => ({ agent: { name: 'a', version: '1' }, protocolVersion: '0.1', requestedCapabilities: names });
  await first.request('initialize', initialize(['one']));
  await second.request('initialize', initialize(['two']));
  const call = async (/** @type {typeof first} */ agent, /** @type {string} */ capability) => {
    const { data, error } = await agent.request('capabilities/call', { capability });
    return data ?? error.code;
  };
  assert.deepEqual([await call(first, 'one'), await call(first, 'two')], ['one', 'UNKNOWN_CAPABILITY']);
  assert.deepEqual([await call(second, 'one'), await call(second, 'two')], ['UNKNOWN_CAPABILITY', 'two']);
  first.close();
  second.close();
});
