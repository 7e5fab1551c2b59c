import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { inflateSync } from 'node:zlib';

/**
 * Reads as much of a PDF file as a reader needs to find its pages. It checks that the cross references
 * lead to objects, that there are as many pages as the page tree says, and that every compressed stream
 * can be read.
 *
 * @param {Buffer} file
 */
export function readPdf(file) {
  const text = file.toString('latin1');
  assert.match(text, /^%PDF-1\.\d/);
  assert.match(text.slice(-16), /%%EOF\s*$/);
  const start = Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(text)?.[1]);
  assert.equal(text.slice(start, start + 4), 'xref');
  const [, first = '', count = ''] = /^xref\s+(\d+) (\d+)/.exec(text.slice(start)) ?? [];
  const entries = [...text.slice(start).matchAll(/^(\d{10}) \d{5} ([nf])\s/gm)];
  assert.equal(entries.length, Number(count));
  for (const [i, [, offset, kind]] of entries.entries()) {
    if (kind === 'n') assert.match(text.slice(Number(offset), Number(offset) + 20), new RegExp(`^${Number(first) + i} 0 obj`));
  }
  const root = /\/Root (\d+) 0 R/.exec(text.slice(start))?.[1];
  assert.match(objectOf(text, String(root)), /\/Type \/Catalog/);
  const pages = [...text.matchAll(/\/Type \/Page\b(?!s)/g)].length;
  assert.equal(Number(/\/Type \/Pages\b[^>]*?\/Count (\d+)|\/Count (\d+)[^>]*?\/Type \/Pages\b/.exec(text)?.slice(1).find(Boolean)), pages);
  let streams = 0;
  for (const { 1: length, index, 0: head } of text.matchAll(/\/Length (\d+)\s+\/Filter \/FlateDecode\s+(?:\/\w+ \d+\s+)*>>\s+stream\r?\n/g)) {
    inflateSync(file.subarray(index + head.length, index + head.length + Number(length)));
    streams += 1;
  }
  assert.ok(streams >= pages, `${streams} streams for ${pages} pages`);
  const box = /\/MediaBox \[([^\]]*)\]/.exec(text)?.[1]?.trim().split(/\s+/).map(Number) ?? [];
  return { pages, size: box.slice(2) };
}

/** @param {string} text @param {string} number */
function objectOf(text, number) {
  const start = text.indexOf(`\n${number} 0 obj`);
  return text.slice(start, text.indexOf('endobj', start));
}

/**
 * @param {Buffer} file
 * @returns {string} the file's text, read by Poppler, which `npm run setup` installs
 */
export function pdfText(file) {
  const { error, status, stdout, stderr } = spawnSync('pdftotext', ['-enc', 'UTF-8', '-', '-'], { input: file, maxBuffer: 2 ** 28 });
  if (error) throw error;
  assert.equal(status, 0, String(stderr));
  assert.equal(String(stderr), '', 'Poppler has nothing to complain of');
  return String(stdout);
}
