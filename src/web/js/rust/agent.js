/**
 * The functions that the agent's half in Rust calls.
 */
export { errorOf, lateEnd } from '../envelope.js';
export { array, now, push } from '../platform.js';
