/** The examples that a gateway takes part in: RAP both ways, and ContextForge's API behind Redis. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { run, which } from '../../../scripts/command.mjs';
import { root } from '../../../scripts/paths.mjs';
import { useDemo } from '../support/demo.mjs';
import { startGateway } from '../support/gateway.mjs';
import { inLab, useLab } from '../support/lab.mjs';
import { startRedis } from '../support/redis.mjs';
import { agentOf, startWorkers } from '../support/workers.mjs';

const demo = useDemo();
const lab = useLab();

/** @param {string[]} args */
const example = (...args) => run(process.execPath, [join(root, 'examples', String(args[0])), ...args.slice(1)], { quiet: true, timeoutMs: 60_000 });

test('rap: the runtime lists, calls and cancels the tools of the demo', { timeout: 90_000 }, async () => {
  const { code, output } = await example('rap/runtime.mjs', demo.gateway.url);
  assert.equal(code, 0, output);
  assert.match(output, /^caphost-demo: .*export_archive/);
  assert.match(output, /<h1>It works<\/h1>\nError: Tool call cancelled: The runtime has cancelled the tool call\. The work has ended \((dropped|terminated)\)\.\n$/);
});

test('rap: agents call the tool server, and it hears of a cancel', { timeout: 90_000 }, async (t) => {
  const server = spawn(process.execPath, [join(root, 'examples', 'rap', 'tool-server.mjs'), '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => server.kill());
  let said = '';
  server.stdout.on('data', (text) => (said += text));
  await once(server.stdout, 'data');
  const gateway = await startGateway({ args: ['--tool-server', said.trim()] });
  t.after(() => gateway.stop());
  const agent = await agentOf(gateway, 'counter');
  assert.deepEqual(await agent.invoke('count', { end: 1 }), { counted: 1 });
  const { cancelled, metadata } = await agent.call('count', { end: 100_000 }, { signal: AbortSignal.timeout(500) });
  assert.deepEqual([cancelled, metadata?.stop], [true, 'abandoned']);
  while (!said.includes('count: Error: Tool call cancelled')) await pause(50);
  await agent.shutdown();
});

test('contextforge: the operator cancels at one worker what runs in the app of another', { timeout: 90_000 }, async (t) => {
  if (which('redis-server') === undefined) return t.skip('redis-server is not installed');
  const redis = await startRedis();
  t.after(() => redis.close());
  await lab.begun;
  const workers = await startWorkers(redis, 2, ['--allow-origin', lab.server.origin]);
  t.after(() => Promise.all(workers.map((worker) => worker.end())));
  const [first, second] = /** @type {[typeof workers[0] & {}, typeof workers[0] & {}]} */ (workers);
  const page = await lab.page();
  t.after(() => page.close());
  await inLab(page, async ({ newHost }, url) => {
    const host = await newHost({ app: { id: 'lab', name: 'lab', version: '1' } });
    host.connectGateway(url);
  }, `${first.wsUrl}/abp/app`);
  const agent = await agentOf(first, 'lab');
  // The other worker knows the app.
  await (await agentOf(second, 'lab')).shutdown();
  const response = agent.call('test.hold', {}, { callId: 'quarterly-orders' });
  await agent.call('test.started', { callId: 'quarterly-orders' });
  const { code, output } = await example('contextforge/operator.mjs', second.url, 'quarterly-orders', 'wrong quarter');
  assert.equal(code, 0, output);
  assert.equal(output, 'tool:test.hold is running\ncancelled, returned\ntool:test.hold is cancelled: wrong quarter\n');
  assert.equal((await response).cancelled, true);
  const again = await example('contextforge/operator.mjs', second.url, 'nobody');
  assert.match(again.output, /404: "Run not found"/);
  await agent.shutdown();
  return undefined;
});
