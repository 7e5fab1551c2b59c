import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gatewayBinary } from '../../scripts/paths.mjs';
import { startApp } from './app.mjs';

/** The published SDKs for TypeScript, each with the newest version of MCP that it speaks. */
const SDKS = [
  { name: 'sdk-1.10', speaks: '2024-11-05' },
  { name: 'sdk-1.17', speaks: '2025-06-18' },
  { name: 'sdk-1.23', speaks: '2025-06-18' },
  { name: 'sdk-1', speaks: '2025-11-25' },
  { name: 'client-2.0', speaks: '2026-07-28' },
  { name: 'client-2', speaks: '2026-07-28' },
];

/** @type {Awaited<ReturnType<typeof startApp>>} */
let app;
before(async () => { app = await startApp(); });
after(() => app.stop());

/** Loads the classes of an SDK. Version 2 is a separate package. @param {string} name @returns {Promise<any>} */
async function load(name) {
  const files = name.startsWith('client-2') ? [name, `${name}/stdio`] : ['index', 'streamableHttp', 'stdio'].map((file) => `${name}/client/${file}.js`);
  return Object.assign({}, ...await Promise.all(files.map((file) => import(file))));
}

/** Waits until the app's calls fit. @param {() => boolean} fits */
async function until(fits) {
  while (!fits()) await new Promise((resolve) => setTimeout(resolve, 20));
}

for (const { name, speaks } of SDKS) {
  for (const way of ['HTTP', 'stdio']) {
    describe(`${name} over ${way}`, () => {
      /** @type {any} */
      let client;
      before(async () => {
        const { Client, StreamableHTTPClientTransport, StdioClientTransport } = await load(name);
        client = new Client({ name: 'tried', version: '1' }, { capabilities: {}, versionNegotiation: { mode: 'auto' } });
        const transport = way === 'HTTP'
          ? new StreamableHTTPClientTransport(new URL(`${app.gateway.url}/mcp`))
          : new StdioClientTransport({ command: gatewayBinary, args: ['mcp', '--gateway', app.gateway.url] });
        await client.connect(transport);
      });
      after(() => client.close());

      test('lists every tool, under a name that every model takes', async () => {
        const { tools } = await client.listTools();
        assert.equal(tools.length, 5);
        for (const tool of tools) assert.match(tool.name, /^[\w-]{1,64}$/);
        const sums = tools.find((/** @type {any} */ it) => it.name === 'sums_of');
        assert.deepEqual(Object.keys(sums.inputSchema).sort(), ['properties', 'type']);
        assert.deepEqual(sums.inputSchema.properties.list, { type: 'array', items: {} });
        assert.equal(sums.outputSchema !== undefined, speaks >= '2025-06-18');
      });

      test('calls, and reads structured content where it can', async () => {
        const result = await client.callTool({ name: 'sums_of', arguments: { list: [1, 2] } });
        assert.equal(result.isError ?? false, false);
        assert.equal(result.content[0].text, '{"count":2}');
        assert.deepEqual(result.structuredContent, speaks >= '2025-06-18' ? { count: 2 } : undefined);
      });

      test('is shown a picture', async () => {
        const { tools } = await client.listTools();
        const { name: picture } = tools.find((/** @type {any} */ it) => it.description === 'A picture');
        const { content, structuredContent } = await client.callTool({ name: picture, arguments: {} });
        assert.deepEqual([content[1].type, content[1].mimeType, structuredContent], ['image', 'image/png', undefined]);
      });

      test('reads a result of more than a megabyte, and an empty result', async () => {
        const { content } = await client.callTool({ name: 'large', arguments: {} });
        assert.equal(JSON.parse(content[0].text).text.length, 500_000);
        assert.deepEqual((await client.callTool({ name: 'nothing', arguments: {} })).content, []);
      });

      if (way === 'stdio') {
        test('learns how to get a result that is too large for its reader, and continues', async () => {
          const { isError, content } = await client.callTool({ name: 'large', arguments: { megabytes: 8 } });
          if (speaks >= '2025-06-18') {
            assert.deepEqual(content.map((/** @type {any} */ block) => block.type), ['resource_link']);
          } else {
            assert.equal(isError, true);
            assert.match(content[0].text, /^OPERATION_FAILED: The answer has \d+ MB, .*caphost call/);
          }
          assert.equal((await client.callTool({ name: 'sums_of', arguments: { text: 'ab' } })).content[0].text, '{"count":2}');
        });
      }

      if (name === 'sdk-1') {
        test('follows a call as a task to its end, and cancels a task', async () => {
          const { tasks } = client.experimental;
          /** @type {any[]} */
          const messages = [];
          const stream = tasks.callToolStream({ name: 'sums_of', arguments: { list: [1, 2] } }, undefined, { task: { ttl: 60_000 } });
          for await (const message of stream) messages.push(message);
          assert.equal(messages[0].type, 'taskCreated');
          assert.deepEqual(messages.at(-1).result?.structuredContent, { count: 2 }, JSON.stringify(messages));

          const working = tasks.callToolStream({ name: 'work', arguments: {} }, undefined, { task: {} });
          const { value: { task } } = await working.next();
          await until(() => app.host.stats().contexts > 0);
          const cancelled = await tasks.cancelTask(task.taskId);
          assert.equal(cancelled.status, 'cancelled');
          assert.match(cancelled.statusMessage, /^Cancelled \(returned\); the work has ended/);
          assert.equal(app.host.stats().contexts, 0);
          assert.deepEqual((await tasks.getTask(task.taskId)).status, 'cancelled');
          await assert.rejects(tasks.getTaskResult(task.taskId), { code: -32800 });
          await assert.rejects(tasks.cancelTask(task.taskId), { code: -32602 });
        });
      }

      test('hears of progress, and stops the work with a cancel', async () => {
        const stop = new AbortController();
        /** @type {any[]} */
        const infos = [];
        const options = { signal: stop.signal, onprogress: (/** @type {any} */ info) => infos.push(info) };
        // In version 1, a schema of the result comes before the options.
        const before = name.startsWith('client-2') ? [] : [undefined];
        const call = client.callTool({ name: 'work', arguments: {} }, ...before, options);
        call.catch(() => {});
        await until(() => infos.length > 2);
        assert.equal(infos[0].total, 10_000);
        stop.abort('enough');
        await assert.rejects(call, /enough/);
        await until(() => app.host.stats().contexts === 0);
        assert.equal((await client.callTool({ name: 'sums_of', arguments: { text: 'ab' } })).content[0].text, '{"count":2}');
      });
    });
  }
}
