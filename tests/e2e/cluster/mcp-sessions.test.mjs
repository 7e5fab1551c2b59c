import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { ask } from '../gateway-runs/asking.mjs';
import { nextEvent } from '../support/app-page.mjs';
import { useCluster } from '../support/cluster.mjs';

const cluster = useCluster({ args: ['--session-key', 'a key that nobody would ever guess'] });
before(() => cluster.begun);

/** A published client whose requests go to the workers in turns. */
async function connected() {
  let last = 0;
  /** @type {typeof fetch} */
  const inTurns = (input, init) => {
    const { pathname, search } = new URL(String(input));
    const { url } = cluster.worker((last++ % cluster.workers.length) + 1);
    return fetch(`${url}${pathname}${search}`, init);
  };
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
  const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp/lab'), { fetch: inTurns });
  await client.connect(transport);
  return { client, transport };
}

/** Calls a tool several times, so that each worker gets one of the calls. @param {Client} client */
async function echoes(client) {
  for (const number of [1, 2, 3, 4]) {
    const { isError, content } = await client.callTool({ name: 'test_echo', arguments: { number } });
    assert.deepEqual([isError ?? false, content], [false, [{ type: 'text', text: JSON.stringify({ number }) }]]);
  }
}

/** Cancels a call that runs, and learns from the worker's list that the call has stopped. @param {Client} client @param {string} reason */
async function cancels(client, reason) {
  const stop = new AbortController();
  const held = client.callTool({ name: 'test_hold', arguments: {} }, { signal: stop.signal });
  /** @param {(run: any) => boolean} fits */
  const run = async (fits) => {
    for (;;) {
      const { json } = await ask(cluster.worker(1), '/api/runs');
      const found = json.runs.find((/** @type {any} */ it) => it.capability === 'test.hold' && fits(it));
      if (found) return found;
      await pause(20);
    }
  };
  const { runId } = await run(({ state }) => state === 'running');
  const rejected = assert.rejects(held, new RegExp(reason));
  stop.abort(reason);
  await rejected;
  const over = await run((it) => it.runId === runId && it.state === 'cancelled');
  assert.equal(over.cancelReason, reason, JSON.stringify(over));
}

test('a client goes on at any worker, and after all of them were killed', { timeout: 120_000 }, async () => {
  const page = await cluster.appPage(cluster.worker(1));
  try {
    for (const number of [1, 2]) await (await cluster.agent(number)).shutdown();
    const { client, transport } = await connected();
    const session = transport.sessionId;
    await echoes(client);
    await cancels(client, 'enough');
    const back = await nextEvent(page, { type: 'gateway', state: 'connected' });
    for (const worker of cluster.workers) await worker.end();
    for (const worker of cluster.workers) await worker.restart();
    await back();
    for (const number of [1, 2]) await (await cluster.agent(number)).shutdown();
    await echoes(client);
    await cancels(client, 'enough again');
    assert.equal(transport.sessionId, session);

    await transport.terminateSession();
    for (const { url } of cluster.workers) {
      const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json', 'mcp-session-id': String(session) };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
      const answer = await fetch(`${url}/mcp/lab`, { method: 'POST', headers, body });
      assert.equal(answer.status, 404, 'the client has ended the session');
    }
    await client.close();
  } finally {
    await page.close();
  }
});
