import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { root } from '../../scripts/paths.mjs';

test('an error that nobody catches in Node is read without scrolling past minified source', () => {
  const script = `
    import { createHost } from 'caphost';
    const host = await createHost({ app: { id: 'x', name: 'X', version: '1' } });
    host.register('x', {}, 7);`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: root, encoding: 'utf8' });
  assert.match(stderr, /^CapHostError: x: handler must be a function\n {4}at /m);
  assert.match(stderr, /^var thrown = \(error\) => new CapHostError\(error\);$/m);
  assert.match(stderr, /at Host\.register /);
  assert.match(stderr, /code: 'INVALID_PARAMS'/);
  assert.ok(stderr.length < 2_000, `${stderr.length} characters`);
});
