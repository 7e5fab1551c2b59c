/**
 * The numbers by which JavaScript and Rust name things to each other.
 * Written by a test, from `src/web/host/numbers.rs`.
 */

/** How far a call was seen to stop. */
export const STOP = { neverStarted: 0, dropped: 1, returned: 2, terminated: 3, abandoned: 4 };

/** The step of a stop that has reached a handler. */
export const STEP = { signal: 0, flag: 1, terminate: 2, none: 3 };
