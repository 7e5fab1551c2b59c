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
 * @param {string[]} [options.long] parts of the paths of files that take long: these come first, in any order
 */
export async function runNodeTests(folder, { filters, concurrency, timeoutMs, long = [] }) {
  const isLong = (/** @type {string} */ path) => long.some((part) => path.includes(part));
  const all = filesUnder(join(root, 'tests', folder)).filter((path) => path.endsWith('.test.mjs') && !path.includes('node_modules'));
  const named = all.filter((path) => filters.some((filter) => relative(root, path).includes(filter)));
  const files = named.length > 0 ? named : all;
  if (files.length === 0) return settle(0, { passed: 0, failed: 0, skipped: 0 });

  const report = join(root, 'target', 'test-reports', `${folder}.tap`);
  mkdirSync(join(report, '..'), { recursive: true });
  rmSync(report, { force: true });
  /** @type {import('./in-order.mjs').Plan} */
  const plan = {
    // One that takes long and comes last keeps one processor, and the others idle.
    files: [...files].sort((a, b) => Number(isLong(b)) - Number(isLong(a))),
    concurrency,
    // A file that hangs fails by itself, with its name, before the suite's own limit.
    timeout: Math.round(timeoutMs / 2),
    testNamePatterns: named.length > 0 ? [] : filters,
    report,
  };
  const { code } = await run(process.execPath, [join(import.meta.dirname, 'in-order.mjs'), JSON.stringify(plan)], { timeoutMs });
  const tap = readFileSync(report, 'utf8');
  return { ...settle(code, countNodeTests(tap)), failures: nodeFailures(tap) };
}
