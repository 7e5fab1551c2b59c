// `caphost mcp --save-to`: what would be a link is written into a folder, and the result says where.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { gatewayBinary } from '../../../scripts/paths.mjs';
import { connect, rejection } from '../mcp/clients.mjs';
import { runCommand } from '../support/command-line.mjs';
import { startGateway } from '../support/gateway.mjs';
import { peakMemory } from '../support/memory.mjs';
import { areBytes, newSource, startApp } from './app.mjs';

const MB = 1 << 20;

/** @type {import('../support/gateway.mjs').Gateway} */
let gateway;
/** @type {any} */
let host;
/** @type {string} */
let folder;
before(async () => { gateway = await startGateway({ args: ['--token', 'app=secret-of-the-app', '--token', 'agent=secret-of-one'] }); });
after(() => gateway.stop());
beforeEach(async () => {
  host = await startApp(gateway, { token: 'secret-of-the-app' });
  folder = await mkdtemp(join(tmpdir(), 'caphost-save-'));
});
afterEach(async () => {
  await host.close();
  await rm(folder, { recursive: true });
});

/** @param {'legacy' | 'auto'} mode @returns {import('../mcp/clients.mjs').Kind} */
const saving = (mode) => ({
  name: mode,
  mode,
  era: mode === 'auto' ? 'modern' : 'legacy',
  open: ({ url }) => new StdioClientTransport({
    command: gatewayBinary,
    args: ['mcp', '--gateway', url, '--token', 'secret-of-one', '--save-to', folder],
    stderr: 'inherit',
  }),
});

/** Whether the file at that path has the bytes of a source of that size. @param {string} path @param {number} size */
async function isSource(path, size) {
  const bytes = await readFile(path);
  for (let at = 0; at < bytes.length; at += 1e6) if (!areBytes(bytes.subarray(at, at + 1e6), at)) return false;
  return bytes.length === size;
}

for (const mode of /** @type {const} */ (['legacy', 'auto'])) {
  describe(mode, () => {
    /** @type {import('@modelcontextprotocol/client').Client} */
    let client;
    /** @type {any} */
    let transport;
    /** @type {string[]} */
    let complaints;
    beforeEach(async () => { ({ client, transport, complaints } = await connect(saving(mode), gateway)); });
    afterEach(async () => {
      await client.close();
      assert.deepEqual(complaints, []);
    });

    /** @param {string} name @param {any} params @param {AbortSignal} [signal] @returns {Promise<any>} */
    const call = (name, params, signal) => client.callTool({ name, arguments: params }, { signal });

    test('a file of the page is written, and the result says where', { timeout: 60_000 }, async () => {
      const source = newSource(3 * MB + 17);
      const { content: [text, link, note, ...more] } = await call('file', source);
      const path = join(folder, 'Größe 1.zip');
      assert.deepEqual(link, { type: 'resource_link', uri: pathToFileURL(path).href, name: 'Größe 1.zip', mimeType: 'application/zip', size: source.size });
      assert.equal(note.text, `Saved to ${path} (${source.size} bytes)`);
      assert.deepEqual(more, []);
      assert.deepEqual(JSON.parse(text.text), { downloadUrl: link.uri, mimeType: 'application/zip', size: source.size, filename: 'Größe 1.zip' });
      assert.deepEqual(await readdir(folder), ['Größe 1.zip']);
      assert.equal(await isSource(path, source.size), true);
    });

    test('what is too large for a result is written, and what is not stays in it', { timeout: 60_000 }, async () => {
      const { content: [small] } = await call('pdf', { size: 100 });
      assert.equal(JSON.parse(small.text).pdf, '#/content/1/resource/blob');
      assert.deepEqual(await readdir(folder), []);

      await call('pdf', { size: 2 * MB });
      await call('text', { size: 2 * MB });
      await call('rows', { size: 2 * MB });
      assert.deepEqual((await readdir(folder)).sort(), ['a.pdf', 'result.json', 'result.txt']);
      assert.equal(await readFile(join(folder, 'result.txt'), 'utf8'), 'é'.repeat(MB));
      assert.equal(JSON.parse(await readFile(join(folder, 'result.json'), 'utf8')).rows[0].length, 2 * MB);
      const pdf = await readFile(join(folder, 'a.pdf'));
      assert.equal(pdf.length === 2 * MB && areBytes(pdf.subarray(0, 1e6)), true);
    });

    test('no file is overwritten, and no name leaves the folder', { timeout: 60_000 }, async () => {
      await writeFile(join(folder, 'a.zip'), 'mine');
      const names = ['a.zip', '/etc/a.zip', '../../a.zip', 'C:\\x\\a.zip', '..', '', '.bashrc', 'a\u0000\u001b[1m\u202eb\n.sh'];
      const links = await Promise.all(names.map(async (filename) => (await call('file', { ...newSource(1000), filename })).content[1]));
      const paths = links.map(({ uri }) => fileURLToPath(uri));
      assert.equal(new Set(paths).size, names.length);
      assert.deepEqual((await readdir(folder)).sort(), ['a-2.zip', 'a-3.zip', 'a-4.zip', 'a-5.zip', 'a.zip', 'a[1mb.sh', 'bashrc', 'file', 'file-2']);
      assert.equal(await readFile(join(folder, 'a.zip'), 'utf8'), 'mine');
      for (const path of paths) assert.equal(await isSource(path, 1000), true, path);
    });

    test('a cancel in the middle leaves no file and stops the page; one after the end changes nothing', { timeout: 60_000 }, async () => {
      const source = newSource(256 * MB);
      const controller = new AbortController();
      const reading = rejection(call('file', source, controller.signal));
      while (source.made < 4 * MB) await new Promise(setImmediate);
      assert.equal((await readdir(folder)).length, 1);
      controller.abort('enough');
      await reading;
      await source.cancelled;
      assert.ok(source.made < source.size);
      while ((await readdir(folder)).length > 0) await new Promise(setImmediate);

      const late = new AbortController();
      await call('file', newSource(1000), late.signal);
      late.abort('late');
      assert.deepEqual((await call('echo', { a: 1 })).content[0].text, '{"a":1}');
      assert.deepEqual(await readdir(folder), ['Größe 1.zip']);
    });

    test('a file that breaks off is not left, and the result says so', { timeout: 60_000 }, async () => {
      const source = newSource(256 * MB);
      const calling = call('file', source);
      while (source.made < 4 * MB) await new Promise(setImmediate);
      await host.close();
      const { content } = await calling;
      assert.match(content.at(-1).text, /^Größe 1\.zip could not be saved: the file did not come/);
      assert.equal(content[1].uri.startsWith(`${gateway.url}/files/`), true);
      assert.deepEqual(await readdir(folder), []);
    });

    test('a bridge that ends leaves no part of a file', { timeout: 60_000 }, async () => {
      const source = newSource(256 * MB);
      const calling = rejection(call('file', source));
      while (source.made < 4 * MB) await new Promise(setImmediate);
      process.kill(transport.pid, 'SIGTERM');
      await calling;
      await source.cancelled;
      while ((await readdir(folder)).length > 0) await new Promise(setImmediate);
      complaints.length = 0;
    });

    test('memory does not grow with the file', { timeout: 120_000 }, async () => {
      await call('file', newSource(MB));
      const before = await peakMemory(transport.pid);
      const source = newSource(128 * MB);
      await call('file', { ...source, filename: 'large.zip' });
      assert.equal((await stat(join(folder, 'large.zip'))).size, source.size);
      const grown = (await peakMemory(transport.pid)) - before;
      assert.ok(grown < 24 * MB, `${grown / MB} MB more`);
    });
  });
}

test('a folder that is not there, or is a file, is refused before anything is served', { timeout: 60_000 }, async () => {
  const file = join(folder, 'file');
  await writeFile(file, '');
  for (const path of [join(folder, 'none'), file]) {
    const { status, out, err } = await runCommand(gateway, ['mcp', '--save-to', path]);
    assert.deepEqual([status, out], [2, ''], err);
    assert.match(err, /no files can be written there/);
  }
});
