import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHost } from 'caphost';
import { connectWebSocket } from 'caphost/agent';
import { WebSocket } from 'ws';
import { startGateway } from '../support/gateway.mjs';
import { startSlowLine } from '../support/slow-line.mjs';
import { codeOf } from './pages.mjs';

/** Milliseconds of silence after which the agents give up. */
const LIVENESS = 1000;

/** The bytes of a large message. The line takes six times the liveness for them. */
const LARGE = 3_000_000;
const BYTES_PER_SECOND = 500_000;

describe('an agent behind a slow line', { concurrency: true }, () => {
  /** @type {import('../support/gateway.mjs').Gateway} */
  let gateway;
  /** @type {any} */
  let host;
  before(async () => {
    gateway = await startGateway();
    host = await createHost({ app: { id: 'store', name: 'Store', version: '1' } });
    host.register('export', {}, (/** @type {{ bytes: number }} */ { bytes }) => 'x'.repeat(bytes));
    host.register('import', {}, (/** @type {{ text: string }} */ { text }) => text.length);
    host.register('wait', {}, (/** @type {{ ms: number }} */ { ms }) => sleep(ms, 'waited'));
    host.connectGateway(`${gateway.wsUrl}/abp/app`, { WebSocket });
    await new Promise((resolve) => { host.observe((/** @type {any} */ it) => it.type === 'gateway' && it.state === 'connected' && resolve(undefined)); });
  });
  after(async () => {
    await host?.close();
    await gateway?.stop();
  });

  /** @param {(agent: any, line: Awaited<ReturnType<typeof startSlowLine>>) => Promise<void>} body */
  const behind = (body) => async () => {
    const line = await startSlowLine(gateway.port, BYTES_PER_SECOND);
    const agent = await connectWebSocket(`ws://127.0.0.1:${line.port}/abp`, { liveness: LIVENESS });
    try {
      await body(agent, line);
    } finally {
      await line.close();
      await agent.closed;
    }
  };

  test('gets a result that takes longer than its liveness to arrive', behind(async (agent) => {
    const { data, error } = await agent.call('export', { bytes: LARGE });
    assert.equal(data?.length, LARGE, error?.message);
    assert.equal((await agent.call('wait', { ms: 2 * LIVENESS })).data, 'waited');
  }));

  test('gets the answer to parameters that take longer than its liveness to send, and the answer to the next call', behind(async (agent) => {
    const [large, small] = await Promise.all([agent.call('import', { text: 'x'.repeat(LARGE) }), agent.call('wait', { ms: 1 })]);
    assert.equal(large.data, LARGE, large.error?.message);
    assert.equal(small.data, 'waited', small.error?.message);
  }));

  test('notices that the line is dead, after large messages as well', behind(async (agent, line) => {
    assert.equal((await agent.call('import', { text: 'x'.repeat(100_000) })).data, 100_000);
    assert.equal((await agent.call('export', { bytes: 100_000 })).data.length, 100_000);
    const call = agent.call('wait', { ms: 60_000 });
    await sleep(LIVENESS);
    const since = performance.now();
    line.die();
    assert.equal(codeOf(await call), 'DISCONNECTED');
    assert.ok(performance.now() - since < 5 * LIVENESS, 'as soon as without a large message');
  }));

  for (const [who, life] of /** @type {const} */ ([['a plain agent', undefined], ['one that asks for sizes', { large: true }]])) {
    test(`${who} is ${life ? '' : 'not '}told of a large message before it comes`, async () => {
      const socket = new WebSocket(`${gateway.wsUrl}/abp`);
      await once(socket, 'open');
      const send = (/** @type {string} */ type, /** @type {object} */ payload) => socket.send(JSON.stringify({ type, id: type, timestamp: Date.now(), payload }));
      /** @type {string[]} */
      const texts = [];
      const done = new Promise((resolve) => {
        socket.on('message', (data) => {
          texts.push(String(data));
          if (String(data).includes('capabilities/call-result')) resolve(undefined);
        });
      });
      send('initialize', { agent: { name: 'a', version: '1' }, protocolVersion: '0.1', ...(life && { life }) });
      await once(socket, 'message');
      send('capabilities/call', { capability: 'export', params: { bytes: 100_000 } });
      await done;
      socket.close();
      const told = texts.slice(1, -1).map((text) => JSON.parse(text).payload);
      const data = { bytes: texts.at(-1)?.length };
      assert.deepEqual(told, life ? [{ event: 'notifications/life/large', data }] : []);
    });
  }
});
