/**
 * How an agent in Rust connects.
 */
import { connect, connectPort, connectWebSocket, connectWindow } from './connect.js';
import { openSocket, socketMessenger } from './sockets/socket.js';
import { windowMessenger } from './windows/window.js';

/** @import { Parts } from './connect.js' */
/** @import { Messenger } from './messenger.js' */
/** @import { OpenOptions } from './open.js' */

/** @type {Record<string, (parts: Parts, to: any, options: OpenOptions) => Promise<import('./agent.js').Agent>>} */
const WAYS = { page: connectHere, port: connectPort, window: connectWindow, gateway: connectWebSocket };

/**
 * @param {any} handle the functions of the wasm half
 * @param {string} way
 * @param {any} to
 * @param {OpenOptions} options
 */
export async function connectFromRust(handle, way, to, options) {
  // The crate ships one file for all that a page always loads, and an app in Rust may connect in any way.
  const parts = {
    load: async () => handle,
    sockets: async () => ({ openSocket, socketMessenger }),
    windows: async () => ({ windowMessenger }),
  };
  return WAYS[way]?.(parts, to, options);
}

/**
 * Connects to a host of the same page. Each end receives the other end's messages at once, so a cancel
 * has taken effect when the function that made it returns.
 *
 * @param {Parts} parts
 * @param {import('./host.js').Host} host
 * @param {OpenOptions} options
 */
async function connectHere(parts, host, options) {
  /** @type {Messenger} */
  const ours = end(() => theirs);
  /** @type {Messenger} */
  const theirs = end(() => ours);
  host.accept(theirs);
  return connect(parts, ours, options);
}

/** @param {() => Messenger} other @returns {Messenger} an end of a transport inside the page */
function end(other) {
  return {
    onmessage: undefined,
    onclose: undefined,
    post: (envelope) => other().onmessage?.(envelope),
    close: () => other().onclose?.(),
  };
}
