// What `npm run storms` and `npm run attack` run, and what they leave out.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { table } from '../../../scripts/attack/report.mjs';
import { root } from '../../../scripts/paths.mjs';

test('`npm run storms` selects every test in browsers that does more before a release', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const filters = scripts.storms.split(/node scripts\/test\.mjs --full e2e|&&|\s+/).filter(Boolean);
  const folder = join(root, 'tests/e2e');
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.mjs'));
  const paths = names.map((name) => join(folder, name));
  const larger = paths.filter((path) => readFileSync(path, 'utf8').includes('CAPHOST_STORMS'));
  assert.ok(larger.length > 4);
  const left = larger.map((path) => relative(root, path)).filter((path) => !filters.some((/** @type {string} */ filter) => path.includes(filter)));
  assert.deepEqual(left, []);
});

test('an attack that this machine cannot run is named, in the output and in the table', async () => {
  const name = 'questions between workers';
  const run = promisify(execFile)(process.execPath, ['scripts/attack.mjs', '--only', name, '--seconds', '1'], { cwd: root, env: { ...process.env, PATH: '' } });
  const { stdout, stderr } = await run;
  const why = 'there is no redis-server';
  assert.ok(stderr.includes(`attack: skipped ${name}: ${why}`), stderr);
  assert.ok(stdout.includes(`| ${name} | not run: ${why} |`), stdout);
  assert.ok(table([], [{ name, why }]).includes(why));
});
