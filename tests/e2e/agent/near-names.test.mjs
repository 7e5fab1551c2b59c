/** The answer to an unknown capability name lists similar names, for every kind of caller. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createHost } from 'caphost';
import { connectWebSocket } from 'caphost/agent';
import { attach } from 'caphost/automation';
import { launchPuppeteer } from '../support/browsers.mjs';
import { runCommand } from '../support/command-line.mjs';
import { startGateway } from '../support/gateway.mjs';
import { serveFiles } from '../support/static-server.mjs';
import { connect, kinds, rejection } from '../mcp/clients.mjs';

const NAMES = ['math.sum', 'math.sub', 'text.words'];
const refused = (/** @type {string} */ name, /** @type {string[]} */ ...near) => ({
  success: false,
  error: { code: 'UNKNOWN_CAPABILITY', message: `There is no capability "${name}"`, retryable: false, ...(near.length > 0 && { alternatives: near }) },
});

/** @type {Awaited<ReturnType<typeof startGateway>>} */
let gateway;
/** @type {import('caphost').Host} */
let host;

before(async () => {
  gateway = await startGateway();
  host = await createHost({ app: { id: 'names', name: 'Names', version: '1.0.0' } });
  for (const name of NAMES) host.register(name, {}, () => 1);
  const connected = new Promise((/** @type {(value: void) => void} */ resolve) => void host.observe((/** @type {any} */ it) => it.type === 'gateway' && it.state === 'connected' && resolve()));
  host.connectGateway(`${gateway.wsUrl}/abp/app`);
  await connected;
});
after(async () => {
  host?.close();
  await gateway?.stop();
});

test('an agent over attach', { timeout: 60_000 }, async (t) => {
  const [browser, server] = await Promise.all([launchPuppeteer(), serveFiles()]);
  t.after(() => Promise.all([browser.close(), server.close()]));
  const page = await browser.newPage();
  await page.goto(server.url('/host/'));
  await page.waitForSelector('html[data-ready]');
  await page.evaluate((names) => {
    for (const name of names) /** @type {any} */ (window).host.register(name, {}, () => 1);
  }, NAMES);
  const agent = await attach(page);
  assert.deepEqual(await agent.call('math.summ'), refused('math.summ', 'math.sum', 'math.sub'));
  assert.deepEqual(await agent.call('weather'), refused('weather'));
});

test('an agent over the gateway', { timeout: 30_000 }, async () => {
  const agent = await connectWebSocket(`${gateway.wsUrl}/abp`);
  assert.deepEqual(await agent.call('math.summ'), refused('math.summ', 'math.sum', 'math.sub'));
  assert.deepEqual(await agent.call('words'), refused('words', 'text.words'));
  assert.deepEqual(await agent.call('weather'), refused('weather'));
  await agent.shutdown();
});

test('the command line', { timeout: 30_000 }, async () => {
  const { status, err } = await runCommand(gateway, ['call', 'math.summ']);
  assert.equal(status, 1);
  assert.match(err, /There is no capability "math\.summ" \(UNKNOWN_CAPABILITY\)\n.*did you mean: math\.sum, math\.sub\?/);
});

for (const kind of kinds) {
  test(`a client of MCP over ${kind.name}, by the names of its tools`, { timeout: 30_000 }, async () => {
    const { client } = await connect(kind, gateway);
    for (const [name, near] of [['math_summ', '. Did you mean: math_sum, math_sub?'], ['weather', '']]) {
      const { code, message } = await rejection(client.callTool({ name: String(name), arguments: {} }));
      assert.deepEqual([code, message.replace(/^MCP error -32602: /, '')], [-32602, `Unknown tool: ${name}${near}`]);
    }
    await client.close();
  });
}
