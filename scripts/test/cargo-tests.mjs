import { run } from '../command.mjs';
import { countRustTests, rustFailures, settle } from './counts.mjs';
import { AGAIN_AT_MOST } from './unsteady.mjs';

const minute = 60_000;

/**
 * @typedef {object} CargoRun
 * @property {string[]} packages
 * @property {string[]} [targets] such as `--lib`; all when left out
 * @property {string} [profile] the profile of Cargo.toml
 * @property {string[]} [platform] such as `--target wasm32-unknown-unknown`
 */

/**
 * Runs `cargo test` once for each of `runs`.
 *
 * @param {CargoRun[]} runs
 * @param {object} options
 * @param {string[]} options.filters
 * @param {number} options.timeoutMs for each run
 * @param {Record<string, string>} options.env
 * @param {string} [options.cwd] the repository when left out
 * @param {boolean} [options.quiet]
 * @returns {Promise<import('./suites.mjs').Outcome>} has `again` if some tests failed, which runs each failed test once more, alone
 */
export async function runCargoTests(runs, { filters, timeoutMs, env, cwd, quiet = false }) {
  const results = [];
  for (const one of runs) {
    const { code, output } = await run('cargo', [...argumentsOf(one), ...one.targets ?? [], '--no-fail-fast', ...filters], { cwd, env, quiet, timeoutMs });
    results.push({ one, code, output });
  }
  const counts = countRustTests(results.map(({ output }) => output).join('\n'));
  const code = Math.max(...results.map((it) => it.code));
  const known = results.map(({ one, output }) => ({ one, failures: rustFailures(output) }));
  const failed = known.flatMap(({ one, failures }) => (failures ?? []).map((failure) => ({ one, ...failure })));
  const first = { ...settle(code, counts), failures: failed.map(nameOf) };
  // Failures of the build, and of a run that was cut short, belong to no test.
  const whole = results.every((it, at) => it.code === 0 || known[at]?.failures !== undefined);
  if (failed.length === 0 || failed.length > AGAIN_AT_MOST || !whole) return first;
  return {
    ...first,
    again: async () => {
      const unsteady = [];
      const failures = [];
      for (const it of failed) {
        if (!quiet) console.log(`\nonce more, alone: ${nameOf(it)}`);
        const { code: ended, output } = await run('cargo', [...argumentsOf(it.one), ...it.target, it.test, '--', '--exact'], { cwd, env, quiet, timeoutMs: 10 * minute });
        const now = countRustTests(output);
        if (ended === 0 && now.passed > 0) unsteady.push(nameOf(it));
        else failures.push(nameOf(it));
      }
      const passed = counts.passed + unsteady.length;
      return { passed, failed: failures.length, skipped: counts.skipped, failures, unsteady };
    },
  };
}

/** Uses the same packages as before: for others, cargo would build again. @param {CargoRun} one */
const argumentsOf = ({ packages, profile = 'test', platform = [] }) => [
  'test', '--locked', '--profile', profile, ...packages.flatMap((name) => ['--package', name]), ...platform,
];

/** @param {{ package: string, target: string[], test: string }} failure */
const nameOf = ({ package: name, target, test }) => `${name} ${target.join(' ')}: ${test}`;
