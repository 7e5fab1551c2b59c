/**
 * The WebSocket of the platform.
 */

/** @type {() => any} */
let source = () => globalThis.WebSocket;

/**
 * Says where a platform without a WebSocket of its own gets one.
 *
 * @param {() => any} from
 */
export function socketFrom(from) {
  source = from;
}

/** @returns {any} the constructor, or a promise of it; undefined where there is none */
export const defaultSocket = () => source();
