/**
 * What a wasm module of the app's calls in a worker. Elsewhere nothing comes of it.
 */

/** Put there by `worker.js`, which loads the module. @type {Map<string, object> | undefined} */
const served = /** @type {any} */ (globalThis)[Symbol.for('caphost.served')];

export const inWorker = () => served !== undefined;

/**
 * @param {string} name of a capability
 * @param {Function} start
 * @param {Function} poll
 * @param {Function} stop
 */
export const serve = (name, start, poll, stop) => void served?.set(name, { start, poll, stop });
