/**
 * Agents: callers of the capabilities of another page, worker or server.
 */
import * as to from '../src/web/js/connect.js';
import { loadPart } from '../src/web/js/part.js';
import { load } from './agent-wasm.js';

/** @import { Messenger } from '../src/web/js/messenger.js' */
/** @import { OpenOptions } from '../src/web/js/open.js' */

export { Agent } from '../src/web/js/agent.js';
export { CapHostError } from '../src/web/js/errors.js';

/** What agents load: the wasm module, and the parts that most do not need. */
const parts = {
  load,
  windows: () => loadPart(() => import('../src/web/js/windows/window.js')),
  sockets: () => loadPart(() => import('../src/web/js/sockets/socket.js')),
  reconnecting: () => loadPart(() => import('../src/web/js/again/reconnect.js')),
  lending: () => loadPart(() => import('../src/web/js/callbacks/lend.js')),
};

// Separate functions, so that a bundler leaves out the functions that nobody calls.

/** @param {Messenger | (() => Messenger | Promise<Messenger>)} messenger @param {OpenOptions} [options] */
export const connect = (messenger, options) => to.connect(parts, messenger, options);

/** @param {Window | null} win @param {OpenOptions & { origin?: string }} [options] */
export const connectWindow = (win, options) => to.connectWindow(parts, win, options);

/** @param {any} port a port, or a function that makes one @param {OpenOptions} [options] */
export const connectPort = (port, options) => to.connectPort(parts, port, options);

/** @param {string | URL} url @param {OpenOptions & { token?: string, WebSocket?: any, transport?: Messenger }} [options] */
export const connectWebSocket = (url, options) => to.connectWebSocket(parts, url, options);
