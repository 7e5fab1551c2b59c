import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { checkCrateGlue } from '../../../scripts/build/crate-glue.mjs';
import { root } from '../../../scripts/paths.mjs';

test('the crate names every bundled file, and the bundles are up to date', async () => {
  const rust = ['sys.rs', 'caller/sys.rs', 'host/files.rs', 'host/sys.rs', 'host/worker.rs'].map((file) => readFileSync(`${root}/src/web/${file}`, 'utf8')).join('\n');
  const named = [...rust.matchAll(/"\/src\/web\/([^"]+\.js)"/g)].map(([, name]) => name);
  const files = await checkCrateGlue();
  assert.ok(files.length > 2);
  assert.deepEqual([...new Set(named)].sort(), files.map((name) => `bundled/${name}`).sort());
});
