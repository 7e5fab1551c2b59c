import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHost } from 'caphost';
import { connectWebSocket } from 'caphost/agent';
import { WebSocket } from 'ws';
import { connect, kinds } from '../mcp/clients.mjs';
import { startGateway } from '../support/gateway.mjs';
import { startSlowLine } from '../support/slow-line.mjs';
import { codeOf } from './pages.mjs';

const full = process.env.CAPHOST_STORMS === 'full';

/** Milliseconds of silence after which the agents give up. This process is busy for longer with the largest messages. */
const LIVENESS = full ? 10_000 : 1000;

/**
 * The bytes of a large message, and of a slow line. The line takes several times the liveness for the message.
 * Before a release it takes longer than any timeout that is set by default.
 */
const [LARGE, BYTES_PER_SECOND] = full ? [20_000_000, 50_000] : [3_000_000, 500_000];
/** Milliseconds for which clients of MCP wait for an answer. */
const PATIENCE = 4000 * (LARGE / BYTES_PER_SECOND);
const MAX_MESSAGE_BYTES = 32 << 20;

/** Fetches as `fetch` does, and waits for an answer as long as it takes. @type {import('../mcp/clients.mjs').Fetch} */
const patientFetch = (url, { method, headers, body, signal } = {}) => new Promise((resolve, reject) => {
  const asked = request(url, { method, headers: Object.fromEntries(new Headers(headers)), signal: signal ?? undefined }, (answer) => {
    const status = answer.statusCode ?? 0;
    resolve(new Response(status === 204 ? null : /** @type {any} */ (Readable.toWeb(answer)), { status, headers: /** @type {any} */ (answer.headers) }));
  });
  asked.once('error', reject);
  asked.end(body);
});

/** The text of a result of MCP. @param {any} result */
const textOf = (result) => String(result?.content[0].text);

describe('an agent behind a slow line', { concurrency: true }, () => {
  /** @type {import('../support/gateway.mjs').Gateway} */
  let gateway;
  /** @type {any} */
  let host;
  before(async () => {
    const args = Object.entries({
      'max-message-bytes': MAX_MESSAGE_BYTES,
      // The results themselves are what goes over the line, not links to them.
      'inline-result': MAX_MESSAGE_BYTES,
      'http-body-timeout': `${PATIENCE}ms`,
      // All lines are slow at the same time.
      'max-unsent-bytes': 8 * MAX_MESSAGE_BYTES,
      'max-unfinished-bytes': 8 * MAX_MESSAGE_BYTES,
      'max-queued-bytes': 8 * MAX_MESSAGE_BYTES,
      'max-total-queued-bytes': 8 * MAX_MESSAGE_BYTES,
    });
    gateway = await startGateway({ args: args.map(([name, value]) => `--${name}=${value}`) });
    host = await createHost({ maxMessageBytes: MAX_MESSAGE_BYTES, app: { id: 'store', name: 'Store', version: '1' } });
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

  /** @param {(agent: any, line: Awaited<ReturnType<typeof startSlowLine>>) => Promise<void>} body @param {{ liveness?: number }} [options] of the agent */
  const behind = (body, options = { liveness: LIVENESS }) => async () => {
    const line = await startSlowLine(gateway.port, BYTES_PER_SECOND);
    const agent = await connectWebSocket(`ws://127.0.0.1:${line.port}/abp`, options);
    try {
      await body(agent, line);
    } finally {
      await line.close();
      await agent.closed;
    }
  };

  // Before a release the defaults must do.
  const large = full ? {} : { liveness: LIVENESS };
  test('gets a result that takes longer than its liveness to arrive', behind(async (agent) => {
    const { data, error } = await agent.call('export', { bytes: LARGE });
    assert.equal(data?.length, LARGE, error?.message);
    assert.equal((await agent.call('wait', { ms: 2 * LIVENESS })).data, 'waited');
  }, large));

  test('gets the answer to parameters that take longer than its liveness to send, and the answer to the next call', behind(async (agent) => {
    const [large, small] = await Promise.all([agent.call('import', { text: 'x'.repeat(LARGE) }), agent.call('wait', { ms: 1 })]);
    assert.equal(large.data, LARGE, large.error?.message);
    assert.equal(small.data, 'waited', small.error?.message);
  }, large));

  for (const kind of kinds) {
    // Published clients read at most 10 MB over stdio, and `caphost mcp` says so in place of a larger result.
    const bytes = kind.name.startsWith('stdio') ? Math.min(LARGE, 9_000_000) : LARGE;
    test(`a client of MCP (${kind.name}) gets a large result, and the answer to large parameters`, async () => {
      const lines = await Promise.all([0, 1].map(() => startSlowLine(gateway.port, BYTES_PER_SECOND)));
      const clients = await Promise.all(lines.map(({ port }) => connect(kind, { url: `http://127.0.0.1:${port}` }, { fetch: patientFetch })));
      try {
        const [down, up] = await Promise.all(clients.map(({ client }, number) => {
          const call = [{ name: 'export', arguments: { bytes } }, { name: 'import', arguments: { text: 'x'.repeat(LARGE) } }][number];
          return client.callTool(/** @type {any} */ (call), { timeout: PATIENCE });
        }));
        assert.equal(textOf(down).length, bytes, textOf(down).slice(0, 300));
        assert.equal(textOf(up), String(LARGE));
        assert.deepEqual(clients.flatMap(({ complaints }) => complaints), []);
      } finally {
        await Promise.all(clients.map(({ client }) => client.close()));
        await Promise.all(lines.map((line) => line.close()));
      }
    });
  }

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
