// Runs every suite, or the named suites: npm test -- --help tells how.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './paths.mjs';
import { setUpBuild, setUpTests } from './setup.mjs';
import { suites } from './test/suites.mjs';
import { summaryOf } from './test/summary.mjs';

/** The arguments; ends the process if they ask for help, or cannot be read. */
function readArgs() {
  try {
    const { values, positionals } = parseArgs({ options: { full: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } }, allowPositionals: true });
    if (!values.help) return { full: values.full, args: positionals };
    const width = Math.max(...suites.map(({ name }) => name.length));
    console.log(`Runs all tests, or the tests that are named:
  npm test -- [--full] [suite…] [filter…]
A filter is a part of a test file's path or of a test's name. With --full the tests that have a larger form
run as before a release. Suites:
${suites.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`).join('\n')}`);
    process.exit(0);
  } catch (error) {
    console.error(`test: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(2);
  }
}

const { full, args } = readArgs();
if (full) process.env.CAPHOST_STORMS = 'full';
const isSuite = (/** @type {string} */ name) => suites.some((suite) => suite.name === name);
const filters = args.filter((arg) => !isSuite(arg));
const selected = args.some(isSuite) ? suites.filter(({ name }) => args.includes(name)) : suites;

/** @type {import('./test/summary.mjs').Ended[]} */
const ended = [];
/** @type {string[]} */
const problems = [];

try {
  await setUpBuild();
  await setUpTests();
  const build = suites.find(({ name }) => name === 'build');
  // If a selected suite needs the build, the build runs first, even if it was not selected.
  const planned = selected.some(({ needsBuild }) => needsBuild) && build && !selected.includes(build)
    ? [build, ...selected]
    : selected;
  let built = true;
  /** @param {import('./test/suites.mjs').Suite} suite @returns {Promise<import('./test/summary.mjs').Ended>} */
  const run = async (suite) => {
    const since = performance.now();
    console.log(`\n== ${suite.name}: ${suite.about}`);
    const outcome = suite.needsBuild && !built
      ? { passed: 0, failed: 1, skipped: 0, note: 'not run, because the build failed' }
      : await suite.run(filters);
    if (suite === build) built = outcome.failed === 0;
    return { name: suite.name, outcome, seconds: (performance.now() - since) / 1000 };
  };
  for (let at = 0; at < planned.length;) {
    const group = [planned[at]];
    while (planned[at]?.besideNext && at + 1 < planned.length) group.push(planned[at += 1]);
    at += 1;
    // Failed tests run again once no other suite of the group runs.
    for (const { name, outcome, seconds } of await Promise.all(group.flatMap((suite) => suite ? [run(suite)] : []))) {
      const since = performance.now();
      const settled = await outcome.again?.() ?? outcome;
      ended.push({ name, outcome: settled, seconds: seconds + (performance.now() - since) / 1000 });
    }
  }
} catch (error) {
  problems.push(error instanceof Error ? error.message : String(error));
}

const { lines, unsteady, closing, failed } = summaryOf(ended, problems);
const reports = join(root, 'target', 'test-reports');
mkdirSync(reports, { recursive: true });
writeFileSync(join(reports, 'unsteady.txt'), unsteady.map((line) => `${line}\n`).join(''));
writeFileSync(join(reports, 'summary.txt'), `${unsteady.map((line) => `unsteady: ${line}\n`).join('')}${closing}\n`);
console.log(`\n${lines.join('\n')}\n\n${closing}`);
process.exitCode = failed > 0 ? 1 : 0;
