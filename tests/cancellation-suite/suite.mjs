/** Runs the built `caphost-conformance`. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../scripts/command.mjs';
import { conformanceBinary, root, targetDir } from '../../scripts/paths.mjs';

export const liar = join(root, 'tests', 'cancellation-suite', 'liar.mjs');

/** @param {string} file in this folder */
export const here = (file) => join(root, 'tests', 'cancellation-suite', file);

/** A busy machine stops work late. */
export const patient = ['--grace', '5000'];

/**
 * @typedef {{ id: string, level: string, outcome: string, seen?: string, expected?: string }} Row
 * @typedef {{ code: number, rows: Row[], outcomes: Record<string, string>, broken: Row[], output: string, junit: string, html: string }} Found
 */

/**
 * Runs the suite with 100 races and the seed 1, and requires everything.
 *
 * @param {string[]} args
 * @returns {Promise<Found>}
 */
export async function runSuite(...args) {
  const folder = join(targetDir, 'conformance-reports');
  mkdirSync(folder, { recursive: true });
  const [junit, html] = ['xml', 'html'].map((type) => join(folder, `${process.pid}-${Math.random().toString(36).slice(2)}.${type}`));
  const { code, output } = await run(conformanceBinary, [
    ...args.slice(0, 1), '--json', '--junit', String(junit), '--html', String(html), '--races', '100', '--seed', '1', '--require', 'ours', ...args.slice(1),
  ], { quiet: true, timeoutMs: 120_000 });
  const start = output.indexOf('{\n');
  if (start < 0) return { code, rows: [], outcomes: {}, broken: [], output, junit: '', html: '' };
  const { rows } = /** @type {{ rows: Row[] }} */ (JSON.parse(output.slice(start)));
  return {
    code,
    rows,
    outcomes: Object.fromEntries(rows.map(({ id, outcome }) => [id, outcome])),
    broken: rows.filter(({ outcome }) => outcome === 'broken'),
    output,
    junit: readFileSync(String(junit), 'utf8'),
    html: readFileSync(String(html), 'utf8'),
  };
}

/** The ids of all rows with that outcome. @param {Found} found @param {string} wanted */
export const those = ({ rows }, wanted) => rows.filter(({ outcome }) => outcome === wanted).map(({ id }) => id);
