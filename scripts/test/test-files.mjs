import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { run } from '../command.mjs';
import { countNodeTests, nodeFailures, settle } from './counts.mjs';
import { AGAIN_AT_MOST } from './unsteady.mjs';

/**
 * @typedef {object} Plan
 * @property {string} base what names of files are relative to
 * @property {string[]} files in the order they begin
 * @property {number} concurrency files at a time
 * @property {number} timeoutMs for all of them; what has not begun by then fails
 * @property {number} fileTimeoutMs for each
 * @property {string[]} namePatterns only tests whose name has one of these
 * @property {boolean} [quiet]
 * @property {string} reports the folder that gets what each file reports, as TAP
 *
 * @typedef {import('./counts.mjs').Counts & { file: string, failures: string[] }} FileOutcome
 */

/**
 * Runs test files of Node's, each in a process of its own, which ends with all it has started.
 *
 * @param {Plan} plan
 * @returns {Promise<import('./suites.mjs').Outcome>} with `again`, if some have failed: it runs these once more, each alone
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
    // Where these tests run within a test, that one's reporter is not theirs.
  ], { timeoutMs, quiet: true, env: { NODE_TEST_CONTEXT: undefined } });
  if (!plan.quiet) process.stdout.write(output.replace(/^ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+\n/gm, ''));

  const tap = existsSync(report) ? readFileSync(report, 'utf8') : '';
  const counts = countNodeTests(tap);
  // Where a name was asked for a file may have no test of that name, and all of its tests may be skipped.
  const hasNone = code === 0 && counts.passed + counts.failed === 0 && (plan.namePatterns.length > 0 || counts.skipped > 0);
  const { note, ...settled } = hasNone ? { ...counts, note: undefined } : settle(code, counts);
  const failures = [...nodeFailures(tap), ...note === undefined ? [] : [`${name}: ${note}`]];
  return { file, ...settled, failures };
}
