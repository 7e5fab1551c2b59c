/**
 * The functions that a wasm module of the app calls in a worker. Elsewhere they have no effect.
 */

import { panicked } from '../guard.js';

/** Set by `worker.js`, which loads the module. @type {Map<string, object> & { lost: (message: string) => void } | undefined} */
const served = /** @type {any} */ (globalThis)[Symbol.for('caphost.served')];

/** @param {string} message @param {string} place */
export function lose(message, place) {
  panicked(message, place);
  served?.lost(message);
}

export const inWorker = () => served !== undefined;

/**
 * @param {string} name of a capability
 * @param {Function} start
 * @param {Function} poll
 * @param {Function} stop
 */
export const serve = (name, start, poll, stop) => void served?.set(name, { start, poll, stop });
