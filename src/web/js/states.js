/**
 * The end states of a call, by the numbers that Rust has for them.
 * Written by a test, from `src/web/host/numbers.rs`.
 */
export const STATES = ['completed', 'failed', 'cancelled'];
