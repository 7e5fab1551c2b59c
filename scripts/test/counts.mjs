import { basename } from 'node:path';

/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 */

/**
 * @param {string} output of cargo test
 * @returns {Counts}
 */
export function countRustTests(output) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const [, passed, failed, ignored] of output.matchAll(/^test result: .*?(\d+) passed; (\d+) failed; (\d+) ignored/gm)) {
    counts.passed += Number(passed);
    counts.failed += Number(failed);
    counts.skipped += Number(ignored);
  }
  return counts;
}

/**
 * The failed tests, each with its target and package.
 *
 * @param {string} output of cargo test
 * @returns {{ package: string, target: string[], test: string }[] | undefined} undefined if a target did not run to its end, or was not built
 */
export function rustFailures(output) {
  const failed = [...output.matchAll(/\nfailures:\n\n?((?: {4}.+\n)+)\n?test result: FAILED/g)].map(([, names]) => String(names).trim().split(/\n\s*/));
  // Cargo lists the targets in the order in which they ran.
  const [, list = ''] = /^error: \d+ targets? failed:\n((?: {4}`.+`\n?)+)/m.exec(output) ?? [];
  const targets = [...list.matchAll(/^ {4}`-p (\S+) (.+)`$/gm)];
  if (failed.length === 0 || failed.length !== targets.length) return undefined;
  return targets.flatMap(([, name, target], at) => (failed[at] ?? []).map((test) => ({ package: String(name), target: String(target).split(' '), test })));
}

/**
 * @param {string} tap the output of Node's TAP reporter
 * @returns {Counts}
 */
export function countNodeTests(tap) {
  const count = (/** @type {string} */ name) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(tap)?.[1] ?? 0);
  return {
    passed: count('pass'),
    failed: count('fail') + count('cancelled'),
    skipped: count('skipped') + count('todo'),
  };
}

/**
 * A line for each failed test: its name, its place, and the error in short.
 *
 * @param {string} tap the output of Node's TAP reporter
 * @returns {string[]}
 */
export function nodeFailures(tap) {
  const failed = tap.matchAll(/^( *)not ok \d+ - (.*)\n\1 {2}---\n([^]*?)\n\1 {2}\.{3}$/gm);
  return [...failed].flatMap(([, , name, details = '']) => {
    if (/^ *failureType: '(subtestsFailed|fileFailure)'/m.test(details)) return [];
    const [, file = '', begins] = /^ *location: '(.*?):(\d+):\d+'$/m.exec(details) ?? [];
    // Takes the line that threw, if the stack has a line of the test's own file.
    const thrown = details.split('\n').find((line) => line.includes(`file://${file}:`));
    const [, line = begins] = /:(\d+):\d+\)?$/.exec(thrown ?? '') ?? [];
    const [, error = ''] = /^ *error: (?:\|-\n)?([^]*?)(?=\n *(?:code|name|stack|expected|actual|cause): |$(?![^]))/m.exec(details) ?? [];
    return [`${name} (${basename(file)}:${line}): ${error.replace(/\s+/g, ' ').trim().slice(0, 300)}`];
  });
}

/**
 * Combines a suite's counts with its exit code. A suite that failed before it could count its tests
 * counts as one failure. A suite that found no tests counts as one failure too.
 *
 * @param {number} code its exit code
 * @param {Counts} counts
 * @returns {Counts & { note?: string }}
 */
export function settle(code, counts) {
  if (code !== 0 && counts.failed === 0) return { ...counts, failed: 1, note: code === 124 ? 'ran out of time' : `ended with ${code}` };
  if (code === 0 && counts.passed + counts.failed === 0) return { ...counts, failed: 1, note: 'found no test' };
  return counts;
}
