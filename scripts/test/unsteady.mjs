/**
 * What fails runs once more, alone, when its suite is over. If it passes then it counts as passed, and
 * is called unsteady: a test file of Node's as a whole, a test of Rust's by itself.
 */

/** Where more than these have failed in a suite, something is broken, and nothing runs again. */
export const AGAIN_AT_MOST = 10;

/** More than these fail the run. */
const UNSTEADY_AT_MOST = 3;

/** @param {string[]} unsteady a line for each @returns {string[]} what went wrong with the run by that: one line, or none */
export function tooUnsteady(unsteady) {
  return unsteady.length > UNSTEADY_AT_MOST ? [`${unsteady.length} were unsteady, and at most ${UNSTEADY_AT_MOST} may be`] : [];
}
