import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { filesUnder } from '../../scripts/build/stamp.mjs';
import { root } from '../../scripts/paths.mjs';
import { problem } from '../../src/web/js/errors.js';

const read = (/** @type {string} */ path) => readFileSync(join(root, path), 'utf8');

/** The table on the documentation page about errors. A test of the crate compares it with the table in `src/call/error.rs`. */
const table = new Map([...read('docs/reference/errors.md').matchAll(/^\| `([A-Z_]+)` \| (yes|no) \|/gm)].map(([, code = '', yes]) => [code, yes === 'yes']));

test('the codes are retryable as ABP says', () => {
  const yes = ['NOT_INITIALIZED', 'SESSION_EXPIRED', 'SESSION_INVALID', 'TIMEOUT', 'RATE_LIMITED', 'DISCONNECTED'];
  const no = ['ALREADY_INITIALIZED', 'UNKNOWN_CAPABILITY', 'INVALID_PARAMS', 'MISSING_PARAM', 'INVALID_TYPE', 'CANCELLED', 'NOT_IMPLEMENTED', 'NOT_SUPPORTED'];
  assert.equal(table.size, 23);
  for (const code of yes) assert.equal(table.get(code), true, code);
  for (const code of no) assert.equal(table.get(code), false, code);
});

test('a code is as retryable in JavaScript as in Rust, TRANSPORT_ERROR too', () => {
  for (const [code, retryable] of table) {
    assert.deepEqual(problem(code, ''), { code, message: '', retryable });
  }
  assert.equal(table.get('TRANSPORT_ERROR'), true);
});

test('every error in the code is as retryable as its code', () => {
  const sources = ['src', 'npm', 'gateway/src'].flatMap((folder) => filesUnder(join(root, folder))).filter((path) => /\.(js|rs)$/.test(path) && !path.includes('tests'));
  let seen = 0;
  for (const path of sources) {
    // The tests of a Rust file are at its end.
    const [shipped = ''] = readFileSync(path, 'utf8').split('#[cfg(test)]\nmod ');
    for (const [text, code = '', retryable] of shipped.matchAll(/code"?: ['"]([A-Z_]+)['"],[^{}]*?retryable"?: (true|false)/g)) {
      seen += 1;
      assert.equal(retryable === 'true', table.get(code), `${relative(root, path)}: ${text}`);
    }
  }
  assert.ok(seen > 3);
});
