/**
 * Agents: callers of the capabilities of another page, worker or server.
 */
import * as to from '../src/web/js/connect.js';
import { load } from './agent-wasm.js';

/** @import { Messenger } from '../src/web/js/messenger.js' */
/** @import { OpenOptions } from '../src/web/js/open.js' */

export { Agent } from '../src/web/js/agent.js';
export { CapHostError } from '../src/web/js/errors.js';

// Separate functions, so that a bundler leaves out the functions that nobody calls.

/** @param {Messenger | (() => Messenger | Promise<Messenger>)} messenger @param {OpenOptions} [options] */
export const connect = (messenger, options) => to.connect(load, messenger, options);

/** @param {Window | null} win @param {OpenOptions & { origin?: string }} [options] */
export const connectWindow = (win, options) => to.connectWindow(load, win, options);

/** @param {any} port @param {OpenOptions} [options] */
export const connectPort = (port, options) => to.connectPort(load, port, options);

/** @param {string | URL} url @param {OpenOptions & { token?: string, WebSocket?: any, transport?: Messenger }} [options] */
export const connectWebSocket = (url, options) => to.connectWebSocket(load, url, options);
