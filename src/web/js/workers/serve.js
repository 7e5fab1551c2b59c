/**
 * What a wasm module of the app's calls in a worker. Elsewhere nothing comes of it.
 */

import { panicked as lose } from '../guard.js';

/** Put there by `worker.js`, which loads the module. @type {Map<string, object> & { lost: (message: string) => void } | undefined} */
const served = /** @type {any} */ (globalThis)[Symbol.for('caphost.served')];

/** @param {string} message @param {string} place */
export function panicked(message, place) {
  lose(message, place);
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
