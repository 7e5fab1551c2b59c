import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { unlessDone } from '../../../scripts/build/stamp.mjs';
import { root } from '../../../scripts/paths.mjs';

test('a build step runs again only when an input, a setting or an output changed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'caphost-stamp-'));
  const name = `test-${basename(folder)}`;
  t.after(() => {
    rmSync(folder, { recursive: true });
    rmSync(join(root, 'target', 'stamps', name), { force: true });
  });
  const [input, output] = [join(folder, 'input'), join(folder, 'output')];
  const step = (/** @type {string[]} */ settings) =>
    unlessDone({ name, inputs: [input], settings, outputs: [output] }, () => writeFileSync(output, 'done'));

  writeFileSync(input, 'one');
  assert.equal(await step([]), true);
  assert.equal(await step([]), false);
  writeFileSync(input, 'two');
  assert.equal(await step([]), true);
  assert.equal(await step(['-Oz']), true);
  rmSync(output);
  assert.equal(await step(['-Oz']), true);
  assert.equal(await step(['-Oz']), false);
});

test('a build step that failed runs again', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'caphost-stamp-'));
  const name = `test-${basename(folder)}`;
  t.after(() => {
    rmSync(folder, { recursive: true });
    rmSync(join(root, 'target', 'stamps', name), { force: true });
  });
  const step = { name, inputs: [], outputs: [] };
  await assert.rejects(unlessDone(step, () => Promise.reject(new Error('broken'))), /broken/);
  assert.equal(await unlessDone(step, () => {}), true);
});
