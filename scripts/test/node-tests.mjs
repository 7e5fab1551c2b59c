import { join, relative } from 'node:path';
import { filesUnder } from '../build/stamp.mjs';
import { root } from '../paths.mjs';
import { settle } from './counts.mjs';
import { runTestFiles } from './test-files.mjs';

/**
 * Runs the `*.test.mjs` files of a folder under tests/.
 *
 * @param {string} folder
 * @param {object} options
 * @param {string[]} options.filters selects the files whose path contains one of these or, if there are none, the tests whose name does
 * @param {number} options.concurrency files at a time
 * @param {number} options.timeoutMs for the whole folder
 * @param {string[]} [options.long] parts of the paths of files that take long: these files start first, in any order
 * @returns {Promise<import('./suites.mjs').Outcome>}
 */
export async function runNodeTests(folder, { filters, concurrency, timeoutMs, long = [] }) {
  const isLong = (/** @type {string} */ path) => long.some((part) => path.includes(part));
  const all = filesUnder(join(root, 'tests', folder)).filter((path) => path.endsWith('.test.mjs') && !path.includes('node_modules'));
  const named = all.filter((path) => filters.some((filter) => relative(root, path).includes(filter)));
  const files = named.length > 0 ? named : all;
  if (files.length === 0) return settle(0, { passed: 0, failed: 0, skipped: 0 });

  return runTestFiles({
    base: join(root, 'tests'),
    // If a long file comes last, the other processors are idle while it runs.
    files: [...files].sort((a, b) => Number(isLong(b)) - Number(isLong(a))),
    concurrency,
    timeoutMs,
    // A file that hangs fails under its own name, before the suite's limit.
    fileTimeoutMs: Math.round(timeoutMs / 2),
    namePatterns: named.length > 0 ? [] : filters,
    reports: join(root, 'target', 'test-reports'),
  });
}
