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
 * The tests that failed, and in which target of which package.
 *
 * @param {string} output of cargo test
 * @returns {{ package: string, target: string[], test: string }[] | undefined} undefined where a target has not run to its end, or was not built
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
 * @param {string} tap what Node's TAP reporter wrote
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
 * What went wrong, a line for each test that failed: its name, where it is, and the error in short.
 *
 * @param {string} tap what Node's TAP reporter wrote
 * @returns {string[]}
 */
export function nodeFailures(tap) {
  const failed = tap.matchAll(/^( *)not ok \d+ - (.*)\n\1 {2}---\n([^]*?)\n\1 {2}\.{3}$/gm);
  return [...failed].flatMap(([, , name, details = '']) => {
    if (/^ *failureType: '(subtestsFailed|fileFailure)'/m.test(details)) return [];
    const [, file = '', begins] = /^ *location: '(.*?):(\d+):\d+'$/m.exec(details) ?? [];
    // The line that threw, where the stack has one of the test's own file.
    const thrown = details.split('\n').find((line) => line.includes(`file://${file}:`));
    const [, line = begins] = /:(\d+):\d+\)?$/.exec(thrown ?? '') ?? [];
    const [, error = ''] = /^ *error: (?:\|-\n)?([^]*?)(?=\n *(?:code|name|stack|expected|actual|cause): |$(?![^]))/m.exec(details) ?? [];
    return [`${name} (${basename(file)}:${line}): ${error.replace(/\s+/g, ' ').trim().slice(0, 300)}`];
  });
}

/**
 * Reconciles what a suite counted with how it ended: one that failed before it could count its
 * tests counts as one failure, and so does one that found none.
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
