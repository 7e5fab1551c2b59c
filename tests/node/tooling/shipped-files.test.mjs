// wasm-bindgen ships to Rust apps only the files it is told of. One that is missing is no error of
// the build: the page of the app just never starts.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { filesUnder } from '../../../scripts/build/stamp.mjs';
import { root } from '../../../scripts/paths.mjs';

const sources = join(root, 'src', 'web', 'js');

/** @param {string} file @param {Set<string>} reached adds it, and whatever it imports */
function reach(file, reached) {
  if (reached.has(file)) return reached;
  reached.add(file);
  const code = readFileSync(file, 'utf8').replaceAll(/\/\*[^]*?\*\//g, '');
  for (const [, path = ''] of code.matchAll(/(?:from|import)\s*\(?'(\.[^']+)'/g)) reach(join(dirname(file), path), reached);
  return reached;
}

test('every file that a host imports is shipped to Rust apps', () => {
  const rust = filesUnder(join(root, 'src', 'web')).filter((path) => path.endsWith('.rs'));
  const shipped = rust.flatMap((path) => readFileSync(path, 'utf8').match(/src\/web\/js\/[\w./-]+\.js/g) ?? []);
  const needed = [...reach(join(sources, 'host.js'), new Set())].map((path) => relative(root, path).replaceAll('\\', '/'));
  assert.ok(needed.length > 40);
  assert.deepEqual(needed.filter((path) => !shipped.includes(path)), []);
});
