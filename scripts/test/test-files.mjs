import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { run } from '../command.mjs';
import { countNodeTests, nodeFailures, settle } from './counts.mjs';
import { AGAIN_AT_MOST } from './unsteady.mjs';

/**
 * @typedef {object} Plan
 * @property {string} base the folder that file names are relative to
 * @property {string[]} files in the order in which they start
 * @property {number} concurrency files at a time
 * @property {number} timeoutMs for all files; a file that has not started by then fails
 * @property {number} fileTimeoutMs for each file
 * @property {string[]} namePatterns runs only the tests whose name contains one of these
 * @property {boolean} [quiet]
 * @property {string} reports the folder for the TAP report of each file
 *
 * @typedef {import('./counts.mjs').Counts & { file: string, failures: string[] }} FileOutcome
 */

/**
 * Runs Node test files, each in a process of its own. The process ends together with all processes that it has started.
 *
 * @param {Plan} plan
 * @returns {Promise<import('./suites.mjs').Outcome>} has `again` if some files failed, which runs each failed file once more, alone
 */
export async function runTestFiles(plan) {
  const until = performance.now() + plan.timeoutMs;
  const waiting = [...plan.files];
  /** @type {FileOutcome[]} */
  const outcomes = [];
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      outcomes.push(await runFile(plan, file, until - performance.now()));
    }
  };
  await Promise.all(Array.from({ length: plan.concurrency }, work));

  const first = sum(outcomes);
  const failed = outcomes.filter((it) => it.failed > 0);
  if (failed.length === 0 || failed.length > AGAIN_AT_MOST) return first;
  return {
    ...first,
    again: async () => {
      /** @type {string[]} */
      const unsteady = [];
      for (const before of failed) {
        const name = nameOf(plan, before.file);
        if (!plan.quiet) console.log(`\nonce more, alone: ${name}`);
        const now = await runFile(plan, before.file, plan.fileTimeoutMs, '.again');
        outcomes[outcomes.indexOf(before)] = now;
        if (now.failed === 0) unsteady.push(`${name}: ${before.failures.join('; ')}`);
      }
      return { ...sum(outcomes), unsteady };
    },
  };
}

/** @param {Plan} plan @param {string} file */
const nameOf = ({ base }, file) => relative(base, file).replaceAll('\\', '/');

/** @param {FileOutcome[]} outcomes @returns {import('./suites.mjs').Outcome} */
function sum(outcomes) {
  const total = (/** @type {'passed' | 'failed' | 'skipped'} */ what) => outcomes.reduce((all, it) => all + it[what], 0);
  const failures = outcomes.flatMap((it) => it.failures);
  const code = total('failed') > 0 ? 1 : 0;
  return { ...settle(code, { passed: total('passed'), failed: total('failed'), skipped: total('skipped') }), failures };
}

/** @param {Plan} plan @param {string} file @param {number} leftMs @param {string} [which] @returns {Promise<FileOutcome>} */
async function runFile(plan, file, leftMs, which = '') {
  const name = nameOf(plan, file);
  if (leftMs <= 0) return { file, passed: 0, failed: 1, skipped: 0, failures: [`${name}: not run, since the suite ran out of time`] };
  const report = join(plan.reports, `${name.replace(/\.test\.mjs$/, '')}${which}.tap`);
  mkdirSync(dirname(report), { recursive: true });
  rmSync(report, { force: true });
  const timeoutMs = Math.min(plan.fileTimeoutMs, leftMs);
  const { code, output } = await run(process.execPath, [
    '--test-reporter=spec', '--test-reporter-destination=stdout',
    '--test-reporter=tap', `--test-reporter-destination=${report}`,
    ...plan.namePatterns.map((pattern) => `--test-name-pattern=${pattern}`),
    file,
    // If this function runs within a test, the reporter of that test must not affect these tests.
  ], { timeoutMs, quiet: true, env: { NODE_TEST_CONTEXT: undefined } });
  if (!plan.quiet) process.stdout.write(output.replace(/^ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+\n/gm, ''));

  const tap = existsSync(report) ? readFileSync(report, 'utf8') : '';
  const counts = countNodeTests(tap);
  // With a filter by name, a file may have no test of that name. All tests of a file may also be
  // skipped.
  const hasNone = code === 0 && counts.passed + counts.failed === 0 && (plan.namePatterns.length > 0 || counts.skipped > 0);
  const { note, ...settled } = hasNone ? { ...counts, note: undefined } : settle(code, counts);
  const failures = [...nodeFailures(tap), ...note === undefined ? [] : [`${name}: ${note}`]];
  return { file, ...settled, failures };
}
