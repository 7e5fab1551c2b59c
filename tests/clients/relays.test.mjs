import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startApp } from './app.mjs';

/** The newest version 1.x, which is installed only for this suite. */
const SDK = 'sdk-1';
const bin = join(dirname(fileURLToPath(import.meta.url)), 'node_modules', '.bin');

/** @type {Awaited<ReturnType<typeof startApp>>} */
let app;
before(async () => { app = await startApp(); });
after(() => app.stop());

/** Programs between a client on standard input and a server over HTTP. supergateway sends its own requests, and passes on neither progress nor a cancel. */
const RELAYS = [
  { name: 'mcp-remote', passesOnNotifications: true, args: (/** @type {string} */ url) => [url, '--allow-http', '--transport', 'http-only'] },
  { name: 'supergateway', passesOnNotifications: false, args: (/** @type {string} */ url) => ['--streamableHttp', url, '--logLevel', 'none'] },
];

for (const { name, args, passesOnNotifications } of RELAYS) {
  describe(`through ${name}`, () => {
    /** @type {any} */
    let client;
    before(async () => {
      const { Client } = await import(`${SDK}/client/index.js`);
      const { StdioClientTransport } = await import(`${SDK}/client/stdio.js`);
      client = new Client({ name: 'tried', version: '1' }, { capabilities: {} });
      await client.connect(new StdioClientTransport({ command: process.execPath, args: [join(bin, name), ...args(`${app.gateway.url}/mcp`)], stderr: 'ignore' }));
    });
    after(() => client.close());

    test('a client lists, calls, is shown a picture, and reads 3 MB', async () => {
      const { tools } = await client.listTools();
      assert.equal(tools.length, 5);
      const { content: [count] } = await client.callTool({ name: 'sums_of', arguments: { list: [1, 2] } });
      assert.equal(count.text, '{"count":2}');
      const { name: picture } = tools.find((/** @type {any} */ it) => it.description === 'A picture');
      const { content: [, image] } = await client.callTool({ name: picture, arguments: {} });
      assert.deepEqual([image.type, image.mimeType], ['image', 'image/png']);
      const { content: [link] } = await client.callTool({ name: 'large', arguments: { megabytes: 3, of: 'abcd' } });
      const { contents: [large] } = await client.readResource({ uri: link.uri });
      assert.equal(JSON.parse(large.text).text.length, 3_000_000);
    });

    if (!passesOnNotifications) return;
    test('a client hears of progress, and stops the work with a cancel', async () => {
      const stop = new AbortController();
      /** @type {any[]} */
      const infos = [];
      const call = client.callTool({ name: 'work', arguments: {} }, undefined, {
        signal: stop.signal,
        onprogress: (/** @type {any} */ info) => infos.push(info),
      });
      call.catch(() => {});
      while (infos.length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(infos[0].total, 10_000);
      stop.abort('enough');
      await assert.rejects(call, /enough/);
      while (app.host.stats().contexts > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    });
  });
}
