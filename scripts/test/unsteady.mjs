/**
 * A failed test runs once more, alone, when its suite is over. If it passes then, it counts as
 * passed and is called unsteady. Node's tests run again by file, Rust's by test.
 */

/** The most failed tests of a suite that run again. If more fail, something is broken, and nothing runs again. */
export const AGAIN_AT_MOST = 10;

/** The most unsteady tests in a run. If there are more, the run fails. */
const UNSTEADY_AT_MOST = 3;

/** @param {string[]} unsteady a line for each @returns {string[]} one line if there are too many, otherwise none */
export function tooUnsteady(unsteady) {
  return unsteady.length > UNSTEADY_AT_MOST ? [`${unsteady.length} were unsteady, and at most ${UNSTEADY_AT_MOST} may be`] : [];
}
