import { tooUnsteady } from './unsteady.mjs';

/**
 * @typedef {object} Ended a suite that has ended
 * @property {string} name
 * @property {import('./suites.mjs').Outcome} outcome
 * @property {number} seconds
 */

/**
 * The summary of a whole run.
 *
 * @param {Ended[]} suites
 * @param {string[]} [problems] problems outside the suites, a line each
 * @returns {{ lines: string[], unsteady: string[], closing: string, failed: number }} `closing` is the last line: `N passed, N failed`
 */
export function summaryOf(suites, problems = []) {
  const unsteady = suites.flatMap(({ outcome }) => outcome.unsteady ?? []);
  const beside = [...problems, ...tooUnsteady(unsteady)];
  const total = (/** @type {'passed' | 'failed'} */ what) => suites.reduce((all, { outcome }) => all + outcome[what], 0);
  const failed = total('failed') + beside.length;
  const failures = [...suites.flatMap(({ outcome }) => outcome.failures ?? []), ...beside];
  const lines = suites.map(lineOf);
  if (unsteady.length > 0) lines.push('', 'Unsteady, failed at first and passed alone:', ...unsteady);
  if (failures.length > 0) lines.push('', 'Failed:', ...failures.slice(0, 20));
  return { lines, unsteady, closing: `${total('passed')} passed, ${failed} failed`, failed };
}

/** @param {Ended} suite */
function lineOf({ name, outcome, seconds }) {
  const counts = [`${outcome.passed} passed`, `${outcome.failed} failed`, ...(outcome.skipped > 0 ? [`${outcome.skipped} skipped`] : [])];
  const note = outcome.note === undefined ? '' : `  (${outcome.note})`;
  return `${outcome.failed > 0 ? 'FAIL' : 'ok  '} ${name.padEnd(14)}${counts.join(', ')} in ${seconds.toFixed(1)} s${note}`;
}
