import assert from 'node:assert/strict';
import { crc32 } from './crc32.mjs';
import { inflateRawSync } from 'node:zlib';

/**
 * Unpacks a ZIP archive by its central directory, and checks that the local headers agree.
 *
 * @param {Buffer} file
 * @returns {{ name: string, content: Buffer }[]}
 */
export function unzip(file) {
  const end = file.lastIndexOf(Buffer.from('PK\x05\x06'));
  assert.ok(end >= 0, 'an end of the central directory');
  assert.equal(end + 22 + file.readUInt16LE(end + 20), file.length);
  const count = file.readUInt16LE(end + 10);
  let at = file.readUInt32LE(end + 16);
  assert.equal(at + file.readUInt32LE(end + 12), end, 'the directory ends where its end begins');
  return Array.from({ length: count }, () => {
    assert.equal(file.toString('latin1', at, at + 4), 'PK\x01\x02');
    const method = file.readUInt16LE(at + 10);
    const [crc, packed, unpacked] = [16, 20, 24].map((offset) => file.readUInt32LE(at + offset));
    const [nameLength = 0, extra = 0, comment = 0] = [28, 30, 32].map((offset) => file.readUInt16LE(at + offset));
    const local = file.readUInt32LE(at + 42);
    const name = file.toString('utf8', at + 46, at + 46 + nameLength);
    at += 46 + nameLength + extra + comment;

    assert.equal(file.toString('latin1', local, local + 4), 'PK\x03\x04');
    const localName = file.readUInt16LE(local + 26);
    assert.equal(file.toString('utf8', local + 30, local + 30 + localName), name);
    const start = local + 30 + localName + file.readUInt16LE(local + 28);
    const raw = file.subarray(start, start + Number(packed));
    assert.ok(method === 0 || method === 8, `${name} is packed by method ${method}`);
    const content = method === 8 ? inflateRawSync(raw) : raw;
    assert.equal(content.length, unpacked, name);
    assert.equal(crc32(content), crc, name);
    return { name, content };
  });
}

/**
 * Reads CSV with quoted fields, which may hold line breaks.
 *
 * @param {string} text
 * @returns {string[][]}
 */
export function parseCsv(text) {
  /** @type {string[][]} */
  const rows = [];
  /** @type {string[]} */
  let row = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  while (field.lastIndex < text.length) {
    const at = field.lastIndex;
    const found = field.exec(text);
    if (!found) assert.fail(`no CSV at ${at}: ${text.slice(at, at + 80)}`);
    row.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
    if (found[3] === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}
