import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { test } from 'node:test';
import { root } from '../../../scripts/paths.mjs';

const glue = `${root}/src/web/js`;

/** @param {string} file @param {Set<string>} [found] @returns {Set<string>} what a module imports, itself included */
function reached(file, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  const code = readFileSync(`${glue}/${file}`, 'utf8').replaceAll(/\/\*.*?\*\//gs, '');
  for (const [, name = ''] of code.matchAll(/(?:from|import\()\s*'(\.\.?\/[^']+)'/g)) {
    reached(posix.join(posix.dirname(file), name), found);
  }
  return found;
}

test('the crate ships every file that the glue of a host, of an agent in Rust and of workers imports', () => {
  const named = ['files.rs', 'sys.rs', 'caller/sys.rs'].flatMap((file) =>
    [...readFileSync(`${root}/src/web/${file}`, 'utf8').matchAll(/"\/src\/web\/js\/([^"]+)"/g)].map(([, name]) => name));
  const needed = reached('in-rust.js', reached('shell.js', reached('host.js')));
  // Workers load theirs by its URL, and Rust calls its own.
  reached('workers/serve.js', reached('workers/worker.js', needed));
  assert.ok(needed.size > 40);
  assert.deepEqual([...new Set(named)].sort(), [...needed].sort());
});
