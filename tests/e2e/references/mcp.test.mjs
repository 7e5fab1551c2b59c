// What is too large for a result of MCP, and what only the page has: clients get links to it.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { connect, kinds, rejection } from '../mcp/clients.mjs';
import { startGateway } from '../support/gateway.mjs';
import { areBytes, isWhole, newSource, startApp } from './app.mjs';

const MB = 1 << 20;

/** @type {import('../support/gateway.mjs').Gateway} */
let gateway;
/** @type {any} */
let host;
before(async () => {
  gateway = await startGateway();
  host = await startApp(gateway);
});
after(async () => {
  await host.close();
  await gateway.stop();
});

for (const kind of kinds) {
  describe(kind.name, () => {
    /** @type {import('@modelcontextprotocol/client').Client} */
    let client;
    /** @type {string[]} */
    let complaints;
    before(async () => { ({ client, complaints } = await connect(kind, gateway)); });
    after(async () => {
      await client.close();
      assert.deepEqual(complaints, []);
    });

    /** @param {string} name @param {any} params @returns {Promise<any>} */
    const call = (name, params) => client.callTool({ name, arguments: params });
    /** @param {string} uri @param {AbortSignal} [signal] @returns {Promise<any>} */
    const read = async (uri, signal) => (await client.readResource({ uri }, { signal })).contents[0];

    test('a file of the page is a link, which is read once, at its address or as a resource', { timeout: 60_000 }, async () => {
      const source = newSource(3 * MB + 17);
      const { content: [text, link] } = await call('file', { url: source.url, size: source.size });
      assert.deepEqual([link.type, link.name, link.mimeType, link.size], ['resource_link', 'Größe 1.zip', 'application/zip', source.size]);
      assert.equal(JSON.parse(text.text).downloadUrl, link.uri);
      assert.equal(await isWhole(await fetch(link.uri), source.size), true);
      assert.match((await rejection(read(link.uri))).message, /no such resource for you/);

      const { content: [, again] } = await call('file', { url: source.url, size: source.size });
      const { blob, mimeType, uri } = await read(again.uri);
      assert.deepEqual([mimeType, uri], ['application/zip', again.uri]);
      const bytes = Buffer.from(blob, 'base64');
      assert.equal(bytes.length, source.size);
      for (let at = 0; at < bytes.length; at += 1e6) assert.equal(areBytes(bytes.subarray(at, at + 1e6), at), true);
      assert.equal((await fetch(again.uri)).status, 404);
    });

    test('a file beyond the bound is a link, and a smaller one stands in the result', { timeout: 60_000 }, async () => {
      const { content: [small] } = await call('pdf', { size: 100 });
      assert.equal(JSON.parse(small.text).pdf, '#/content/1/resource/blob');

      const { content: [text, link] } = await call('pdf', { size: 2 * MB });
      assert.deepEqual([link.type, link.name, link.mimeType, link.size], ['resource_link', 'a.pdf', 'application/pdf', 2 * MB]);
      const { expiresAt, ...data } = JSON.parse(text.text);
      assert.deepEqual(data, { downloadUrl: link.uri, mimeType: 'application/pdf', filename: 'a.pdf', pages: 1 });
      assert.ok(Date.parse(expiresAt) > Date.now());
      const bytes = Buffer.from((await read(link.uri)).blob, 'base64');
      assert.equal(bytes.length === 2 * MB && areBytes(bytes.subarray(0, 1e6)), true);
    });

    test('text and data beyond the bound are links', { timeout: 60_000 }, async () => {
      const { content: [link, ...more] } = await call('text', { size: 2 * MB });
      assert.deepEqual([link.type, link.mimeType, link.size, more.length], ['resource_link', 'text/plain; charset=utf-8', 2 * MB, 0]);
      assert.equal((await read(link.uri)).text, 'é'.repeat(MB));

      const result = await call('rows', { size: 2 * MB });
      assert.deepEqual([result.structuredContent, result.content.length], [undefined, 1]);
      const { rows } = await (await fetch(result.content[0].uri)).json();
      assert.equal(rows[0].length, 2 * MB);
    });

    test('a read that is cancelled before, in the middle and after', { timeout: 60_000 }, async () => {
      const source = newSource(64 * MB);
      const { content: [, link] } = await call('file', { url: source.url, size: source.size });
      await rejection(read(link.uri, AbortSignal.abort('early')));
      assert.equal(source.made, 0);
      const controller = new AbortController();
      const reading = rejection(read(link.uri, controller.signal));
      while (source.made < MB) await new Promise(setImmediate);
      controller.abort('enough');
      await reading;
      await source.cancelled;
      assert.ok(source.made < source.size);

      const late = new AbortController();
      const { content: [, small] } = await call('pdf', { size: 2 * MB });
      await read(small.uri, late.signal);
      late.abort('late');
      assert.deepEqual((await call('echo', { a: 1 })).content[0].text, '{"a":1}');
    });

    test('nothing is listed', { timeout: 60_000 }, async () => {
      assert.deepEqual((await client.listResources()).resources, []);
      assert.deepEqual((await client.listResourceTemplates()).resourceTemplates, []);
    });
  });
}

test('a link ends with its session', { timeout: 60_000 }, async () => {
  const { client, transport } = await connect(/** @type {any} */ (kinds[0]), gateway);
  const source = newSource(10);
  const { content } = /** @type {any} */ (await client.callTool({ name: 'file', arguments: { url: source.url, size: 10 } }));
  await /** @type {any} */ (transport).terminateSession();
  assert.equal((await fetch(content[1].uri)).status, 404);
  await client.close();
});

test('a client of a version without links gets the whole result', { timeout: 60_000 }, async () => {
  const { client } = await connect(/** @type {any} */ (kinds[0]), gateway, { versions: ['2025-03-26'] });
  const { content } = /** @type {any} */ (await client.callTool({ name: 'pdf', arguments: { size: 2 * MB } }));
  assert.equal(Buffer.from(content[1].resource.blob, 'base64').length, 2 * MB);
  await client.close();
});
