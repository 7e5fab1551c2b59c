import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useDemo } from '../support/demo.mjs';
import { parseCsv, unzip } from '../support/zip.mjs';

const demo = useDemo();

/** @param {object} params */
async function exported(params) {
  const { success, data, error } = await demo.agent.call('export.archive', params);
  assert.equal(success, true, JSON.stringify(error));
  assert.equal(data.mimeType, 'application/zip');
  assert.ok(data.downloadUrl.startsWith(`${demo.gateway.url}/files/`), data.downloadUrl);
  const response = await fetch(data.downloadUrl);
  assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'application/zip']);
  const file = Buffer.from(await response.arrayBuffer());
  assert.equal(file.length, data.size);
  const entries = unzip(file).map(({ name, content }) => ({ name, content, rows: parseCsv(content.toString('utf8')) }));
  assert.equal(entries.length, data.files);
  assert.equal(entries.reduce((sum, { content }) => sum + content.length, 0), data.uncompressedSize);
  // The heading of each file does not count as a row.
  assert.equal(entries.reduce((sum, { rows }) => sum + rows.length - 1, 0), data.rows);
  return { ...data, file, entries };
}

test('export.archive has the requested number of rows, under a heading in each file', async () => {
  const { rows, files, entries } = await exported({ rows: 2_500, files: 3, columns: 12 });
  assert.equal(rows, 2_500);
  assert.equal(files, 3);
  assert.equal(new Set(entries.map((/** @type {any} */ it) => it.name)).size, 3);
  for (const { name, rows: lines } of entries) {
    assert.match(name, /\.csv$/);
    assert.ok(lines.every((/** @type {string[]} */ line) => line.length === 12), name);
    assert.deepEqual(lines[0].slice(0, 3), ['order', 'placed_at', 'customer']);
    const orders = lines.slice(1).map((/** @type {string[]} */ line) => line[0]);
    assert.equal(new Set(orders).size, orders.length, 'no order twice');
  }
});

test('export.archive has the requested megabytes unpacked, and fewer packed', async () => {
  const { uncompressedSize, size } = await exported({ megabytes: 2, files: 2 });
  assert.ok(Math.abs(uncompressedSize - 2e6) < 2e5, `${uncompressedSize} bytes`);
  assert.ok(size < uncompressedSize / 2, `${size} bytes`);
});

test('export.archive of no rows has headings only', async () => {
  const { rows, entries } = await exported({ rows: 0, files: 2, filename: 'nothing.zip' });
  assert.equal(rows, 0);
  assert.equal(entries.length, 2);
});

test('export.archive of the same seed is the same, byte for byte', async () => {
  const [first, again, other] = [await exported({ rows: 50, seed: 7 }), await exported({ rows: 50, seed: 7 }), await exported({ rows: 50, seed: 8 })];
  assert.ok(first.file.equals(again.file));
  assert.ok(!first.file.equals(other.file));
});

test('export.archive passes its file name on', async () => {
  const { filename } = await exported({ rows: 1, filename: 'orders.zip' });
  assert.equal(filename, 'orders.zip');
});
