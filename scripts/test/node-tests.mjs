import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { run } from '../command.mjs';
import { filesUnder } from '../build/stamp.mjs';
import { root } from '../paths.mjs';
import { countNodeTests, nodeFailures, settle } from './counts.mjs';

/**
 * Runs the `*.test.mjs` files of a folder under tests/.
 *
 * @param {string} folder
 * @param {object} options
 * @param {string[]} options.filters files whose path holds one of these; or, when none does, tests whose name does
 * @param {number} options.concurrency files at a time
 * @param {number} options.timeoutMs for the whole folder
 * @param {Record<string, string>} [options.env]
 */
export async function runNodeTests(folder, { filters, concurrency, timeoutMs, env }) {
  const all = filesUnder(join(root, 'tests', folder)).filter((path) => path.endsWith('.test.mjs') && !path.includes('node_modules'));
  const named = all.filter((path) => filters.some((filter) => relative(root, path).includes(filter)));
  const files = named.length > 0 ? named : all;
  const patterns = named.length > 0 ? [] : filters.map((filter) => `--test-name-pattern=${filter}`);
  if (files.length === 0) return settle(0, { passed: 0, failed: 0, skipped: 0 });

  const report = join(root, 'target', 'test-reports', `${folder}.tap`);
  mkdirSync(join(report, '..'), { recursive: true });
  rmSync(report, { force: true });
  const { code } = await run(process.execPath, [
    '--test',
    `--test-concurrency=${concurrency}`,
    // A file that hangs fails by itself, with its name, before the suite's own limit.
    `--test-timeout=${Math.round(timeoutMs / 2)}`,
    '--test-reporter=spec', '--test-reporter-destination=stdout',
    '--test-reporter=tap', `--test-reporter-destination=${report}`,
    ...patterns,
    ...files,
  ], { env, timeoutMs });
  const tap = readFileSync(report, 'utf8');
  return { ...settle(code, countNodeTests(tap)), failures: nodeFailures(tap) };
}
