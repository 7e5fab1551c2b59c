// Runs every suite, or those named: node test.mjs [--full] [suite…] [filter…]
// A filter is a part of a test file's path or of a test's name. With --full the storms have as many
// calls as before a release.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './paths.mjs';
import { setUpBuild, setUpTests } from './setup.mjs';
import { suites } from './test/suites.mjs';

const args = process.argv.slice(2).filter((arg) => arg !== '--full');
if (process.argv.includes('--full')) process.env.CAPHOST_STORMS = 'full';
const isSuite = (/** @type {string} */ name) => suites.some((suite) => suite.name === name);
const filters = args.filter((arg) => !isSuite(arg));
const selected = args.some(isSuite) ? suites.filter(({ name }) => args.includes(name)) : suites;
const seconds = (/** @type {number} */ since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

let passed = 0;
let failed = 0;
/** @type {string[]} */
const lines = [];
/** What went wrong, a line a test. @type {string[]} */
const failures = [];

/** @param {string} name @param {import('./test/suites.mjs').Outcome} outcome @param {number} since */
function record(name, outcome, since) {
  passed += outcome.passed;
  failed += outcome.failed;
  failures.push(...outcome.failures ?? []);
  const counts = [`${outcome.passed} passed`, `${outcome.failed} failed`, ...(outcome.skipped > 0 ? [`${outcome.skipped} skipped`] : [])];
  const note = outcome.note === undefined ? '' : `  (${outcome.note})`;
  lines.push(`${outcome.failed > 0 ? 'FAIL' : 'ok  '} ${name.padEnd(14)}${counts.join(', ')} in ${seconds(since)}${note}`);
}

try {
  await setUpBuild();
  await setUpTests();
  const build = suites.find(({ name }) => name === 'build');
  // A suite that needs the build gets it, also when only that suite was asked for.
  const planned = selected.some(({ needsBuild }) => needsBuild) && build && !selected.includes(build)
    ? [build, ...selected]
    : selected;
  let built = true;
  /** @param {import('./test/suites.mjs').Suite} suite */
  const run = async (suite) => {
    const since = performance.now();
    console.log(`\n== ${suite.name}: ${suite.about}`);
    if (suite.needsBuild && !built) {
      record(suite.name, { passed: 0, failed: 1, skipped: 0, note: 'not run, since the build failed' }, since);
      return;
    }
    const outcome = await suite.run(filters);
    if (suite === build) built = outcome.failed === 0;
    record(suite.name, outcome, since);
  };
  for (let at = 0; at < planned.length;) {
    const group = [planned[at]];
    while (planned[at]?.besideNext && at + 1 < planned.length) group.push(planned[at += 1]);
    at += 1;
    await Promise.all(group.map((suite) => suite && run(suite)));
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  failed += 1;
}

const summary = `${passed} passed, ${failed} failed`;
const reports = join(root, 'target', 'test-reports');
mkdirSync(reports, { recursive: true });
writeFileSync(join(reports, 'summary.txt'), `${summary}\n`);
if (failures.length > 0) lines.push('', 'Failed:', ...failures.slice(0, 20));
console.log(`\n${lines.join('\n')}\n\n${summary}`);
process.exitCode = failed > 0 ? 1 : 0;
