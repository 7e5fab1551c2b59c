// A call in a worker that computes forever is cancelled through the gateway. Everybody learns which
// step has stopped it, and after how many milliseconds.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { connectWebSocket } from 'caphost/agent';
import { kinds as jsonRpcKinds } from '../jsonrpc/clients.mjs';
import { connect, kinds as mcpKinds, rejection } from '../mcp/clients.mjs';
import { runCommand, startCommand } from '../support/command-line.mjs';
import { inLab } from '../support/lab.mjs';
import { useLabWithGateway } from '../support/lab-gateway.mjs';
import { startRapRuntime } from '../support/rap-runtime.mjs';

const lab = useLabWithGateway();
/** @type {import('puppeteer-core').Page} */
let page;

/** @param {string} path @param {object} [body] */
async function ask(path, body) {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(`${lab.gateway.url}${path}`, body && post);
  assert.equal(response.status, 200);
  return response.json();
}

/** Returns the newest run once its worker computes. In a worker that still loads, a cancelled call never starts. */
async function running() {
  while (!(await page.evaluate(() => Reflect.get(globalThis, 'spinning').splice(0).length))) await pause(10);
  const { runs: [run] } = await ask('/api/runs');
  assert.equal(run.state, 'running');
  return run;
}

/** @param {any} seen */
function checkStep({ stop, step, took }) {
  assert.deepEqual([stop, step], ['terminated', 'terminate']);
  // Not too early, and measured by the same clock.
  assert.ok(took >= 50 && took < 30_000, `${took}`);
}

/** Checks the answers to everybody who asks for the newest run. */
async function checkRun() {
  let { runs: [run] } = await ask('/api/runs');
  // An agent may know the end from the confirmation, before the call's own answer has arrived.
  while (run.state === 'cancelling') ({ runs: [run] } = await ask('/api/runs'));
  assert.equal(run.state, 'cancelled');
  checkStep(run);
  const status = await ask(`/cancellation/status/${run.runId}`);
  const again = await ask(`/api/runs/${run.runId}/cancel`, {});
  const forge = await ask('/cancellation/cancel', { requestId: run.runId });
  for (const told of [status, again, forge]) assert.deepEqual([told.stop, told.step, told.took], [run.stop, run.step, run.took]);
  return run;
}

const spin = { part: 'spin' };

describe('a call in a worker that computes forever', () => {
  after(() => page?.close());
  before(async () => {
    page = await lab.page();
    await inLab(page, async ({ newHost, join, starts }, url) => {
      const host = await newHost();
      host.registerWorker('test.part', { description: 'Does what it is asked for' }, '/workers/parts.js');
      await join(host, url);
      /** @type {unknown[]} */
      const spinning = [];
      starts.spinning.onmessage = (/** @type {MessageEvent} */ { data }) => spinning.push(data);
      Object.assign(globalThis, { spinning });
    }, lab.urls.app);
  });

  test('ABP', { timeout: 60_000 }, async () => {
    const agent = await connectWebSocket(lab.urls.agent, { agent: { name: 'test', version: '1' } });
    const call = agent.call('test.part', spin, { callId: 'abp' });
    await running();
    const { metadata } = /** @type {any} */ (await agent.cancel('abp'));
    checkStep(metadata);
    assert.deepEqual(await call, { success: false, cancelled: true, metadata });
    const { took } = await checkRun();
    assert.equal(took, metadata.took);
    await agent.shutdown();
  });

  for (const kind of jsonRpcKinds) {
    test(`JSON-RPC: ${kind.name}`, { timeout: 60_000 }, async () => {
      const client = await kind.connect(lab.gateway);
      await client.request('initialize', client.greeting);
      const stop = new AbortController();
      const call = rejection(client.request('_capabilities/call', { capability: 'test.part', params: spin }, stop.signal));
      await running();
      stop.abort();
      const { code, data } = await call;
      assert.equal(code, -32800);
      checkStep(data);
      await checkRun();
      await client.leave();
    });
  }

  for (const kind of mcpKinds) {
    test(`MCP: ${kind.name}`, { timeout: 60_000 }, async () => {
      const { client } = await connect(kind, lab.gateway, { app: 'lab' });
      const call = rejection(client.callTool({ name: 'test_part', arguments: spin }));
      const { runId } = await running();
      const told = await ask(`/api/runs/${runId}/cancel`, {});
      checkStep(told);
      const { code, data } = await call;
      assert.equal(code, -32800);
      checkStep(data);
      assert.deepEqual(data._meta, { 'caphost/stop': data.stop, 'caphost/step': data.step, 'caphost/took': told.took });
      await checkRun();
      await client.close();
    });
  }

  test('RAP', { timeout: 60_000 }, async () => {
    const runtime = await startRapRuntime(`${lab.gateway.url}/rap/lab`);
    const { result } = await runtime.invoke('test_part', spin, { thread: 't', id: '1' });
    await running();
    await runtime.cancel({ thread: 't', id: '1' });
    assert.match((await result).text ?? '', /The work has ended \(terminated\)\.$/);
    await checkRun();
    await runtime.stop();
  });

  test('the command line', { timeout: 60_000 }, async () => {
    const call = startCommand(lab.gateway, ['call', 'test.part', '--params', JSON.stringify(spin), '--app', 'lab', '--json']);
    await running();
    call.signal('SIGINT');
    const { status, out, err } = await call.ended;
    assert.equal(status, 130, err);
    const { metadata, confirmation } = JSON.parse(out);
    checkStep(metadata);
    assert.deepEqual(confirmation.metadata, metadata);
    assert.match(err, /Cancelled, and confirmed by the app; the work has ended: its worker was ended after /);
    const { runId } = await checkRun();
    const again = await runCommand(lab.gateway, ['cancel', runId]);
    assert.match(again.out, /the work has ended: its worker was ended after /);
  });

  test('the page of runs', { timeout: 60_000 }, async () => {
    const runs = await page.browser().newPage();
    await runs.goto(`${lab.gateway.url}/runs`);
    const text = await (await runs.waitForSelector('.run[data-state=cancelled] .run-stop'))?.evaluate((it) => it.textContent);
    assert.match(text ?? '', /^Its work has ended: its worker was ended after [\d.]+ m?s$/);
    await runs.close();
  });
});
