/** The examples with a gateway: RAP in both directions, and ContextForge's API with Redis. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { which } from '../../../scripts/command.mjs';
import { useDemo } from '../support/demo.mjs';
import { freePort } from '../support/free-port.mjs';
import { comesTo } from '../support/hands.mjs';
import { agentOf } from '../support/workers.mjs';
import { beginLine, commandsOf, onPorts, runLine, startLine } from './readme.mjs';

const demo = useDemo();

/** Waits until a gateway has this many running calls. @param {string} gateway @param {number} wanted */
const running = (gateway, wanted) => comesTo(async () => {
  const { runs } = await (await fetch(`${gateway}/api/runs`)).json();
  return runs.filter((/** @type {{ state: string }} */ it) => it.state === 'running').length;
}, wanted);

test('rap: the runtime lists, calls and cancels the tools of the demo', { timeout: 90_000 }, async () => {
  const [start, runtime = ''] = commandsOf('rap');
  assert.equal(start, 'npm start');
  const output = await runLine(onPorts(runtime, { 8787: demo.gateway.port }));
  assert.match(output, /^caphost-demo: .*export_archive/);
  assert.match(output, /<h1>It works<\/h1>\nError: Tool call cancelled: The runtime has cancelled the tool call\. The work has ended \((dropped|terminated)\)\.\n$/);
});

test('rap: agents call the tool server, and it gets a cancel', { timeout: 90_000 }, async (t) => {
  const ports = { 8090: await freePort(), 8788: await freePort() };
  const [server = '', serve = '', call = '', ...more] = commandsOf('rap').slice(2).map((line) => onPorts(line, ports));
  assert.deepEqual(more, []);
  const tools = await startLine(t, server);
  const { url } = await startLine(t, serve);
  // The gateway asks the tool server for its tools a few moments after its own start.
  await (await agentOf({ wsUrl: url.replace(/^http/, 'ws') }, 'counter')).shutdown();
  const caller = beginLine(t, call);
  await running(url, 1);
  caller.interrupt();
  await caller.ended;
  assert.match(caller.output(), /the work was not seen to stop/);
  await comesTo(async () => tools.output().includes('count: Error: Tool call cancelled'), true);
  assert.deepEqual(JSON.parse(await runLine(call.replace('100', '1'))), { counted: 1 });
});

test('contextforge: the operator cancels, at one worker, a call in the app of another', { timeout: 90_000 }, async (t) => {
  if (which('redis-server') === undefined) return t.skip('redis-server is not installed');
  const folder = mkdtempSync(join(tmpdir(), 'caphost-redis-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const ports = { 6390: await freePort(), 8787: await freePort(), 8788: await freePort() };
  const [redis = '', one = '', two = '', call = '', operator = '', publish = '', ...more] = commandsOf('contextforge').map((line) => onPorts(line, ports));
  assert.deepEqual(more, []);
  // Redis writes its data to the folder it runs in.
  await beginLine(t, redis, { cwd: folder }).says(/Ready to accept connections/);
  const [first, second] = [await startLine(t, one), await startLine(t, two)];
  const page = await demo.page.browser().newPage();
  t.after(() => page.close());
  await page.goto(first.url);
  await page.waitForSelector('#gateway[data-state=connected]');

  const env = { CAPHOST_GATEWAY: first.url };
  const caller = beginLine(t, call, { env });
  await running(second.url, 1);
  assert.match(await runLine(operator), /^tool:export\.archive is running\ncancelled, (dropped|terminated)\ntool:export\.archive is cancelled: wrong quarter\n$/);
  await caller.ended;
  assert.match(caller.output(), /ancelled/);
  await assert.rejects(runLine(operator.replace('quarterly-orders', 'nobody')), /404: "Run not found"/);

  const other = beginLine(t, call.replace('quarterly-orders', 'other'), { env });
  await running(second.url, 1);
  await runLine(publish.replace('<run id>', 'other'));
  await other.ended;
  assert.match(other.output(), /ancelled/);
  return undefined;
});
