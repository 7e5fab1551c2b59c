/**
 * The ways to connect an agent. `load` returns the functions of the wasm half, once they are loaded.
 */
import { abpError, text } from './errors.js';
import { lifeOfAgent } from './life/of-agent.js';
import { problemWithMessenger } from './messenger.js';
import { open, problemWithOptions } from './open.js';
import { uniqueName } from './platform.js';
import { portMessenger } from './agent-port.js';
import { getA } from './read.js';
import { defaultSocket, openSocket, socketMessenger } from './socket.js';
import { windowMessenger } from './window.js';

/** The default for transports that do not report a lost peer. */
const LIVENESS = 30_000;

/** @typedef {import('./messenger.js').Messenger} Messenger */
/** @typedef {() => Promise<any>} Load gives the functions of the wasm half */

/**
 * Connects over a messenger. A function that makes the messenger is called last: when the module is
 * loaded, and the agent can listen.
 *
 * @param {Load} load
 * @param {Messenger | (() => Messenger | Promise<Messenger>)} messenger
 * @param {import('./open.js').OpenOptions | null} [given]
 */
export async function connect(load, messenger, given) {
  const options = given ?? {};
  const unfit = problemWithOptions(options);
  if (unfit) throw abpError('INVALID_PARAMS', unfit);
  options.signal?.throwIfAborted();
  const handle = await load();
  options.signal?.throwIfAborted();
  const made = typeof messenger === 'function' ? await madeBy(messenger) : messenger;
  const odd = problemWithMessenger(made);
  if (odd) throw abpError('INVALID_PARAMS', odd);
  return open(handle, made, options);
}

/** @param {() => Messenger | Promise<Messenger>} make */
async function madeBy(make) {
  try {
    return await make();
  } catch (error) {
    throw getA('string', error, 'code') === undefined ? abpError('INVALID_PARAMS', `There is no messenger: ${text(error)}`) : error;
  }
}

/**
 * Connects over a transport that does not report a lost peer: both sides give signs of life.
 *
 * @param {Load} load
 * @param {() => Messenger} messenger
 * @param {import('./open.js').OpenOptions | null} [options]
 */
async function connectNearby(load, messenger, options) {
  // Called when the module is loaded: it takes a lock, which nobody would release if the loading
  // failed.
  const shown = async () => (await lifeOfAgent(uniqueName()))(messenger);
  return connect(load, shown, { liveness: LIVENESS, ...options });
}

/**
 * @param {Load} load
 * @param {Window | null} win
 * @param {import('./open.js').OpenOptions & { origin?: string } | null} [options]
 */
export async function connectWindow(load, win, options) {
  if (!globalThis.document) throw abpError('NOT_SUPPORTED', 'connectWindow works in a page. Elsewhere use connectPort, connectWebSocket or connect');
  if (typeof win?.postMessage !== 'function') throw abpError('INVALID_PARAMS', win === null ? 'the frame has no window: it is not in the document' : 'connectWindow takes a window, such as iframe.contentWindow');
  return connectNearby(load, () => windowMessenger(win, options?.origin), options);
}

/**
 * @param {Load} load
 * @param {any} port
 * @param {import('./open.js').OpenOptions | null} [options]
 */
export async function connectPort(load, port, options) {
  return connectNearby(load, () => portMessenger(port), options);
}

/**
 * @param {Load} load
 * @param {string | URL} url
 * @param {import('./open.js').OpenOptions & { token?: string, WebSocket?: any, transport?: Messenger } | null} [options]
 */
export async function connectWebSocket(load, url, options) {
  const { token, transport, WebSocket } = options ?? {};
  const Socket = transport ? undefined : (WebSocket ?? defaultSocket());
  return connect(load, () => transport ?? socketMessenger(openSocket(url, token, Socket)), { liveness: LIVENESS, ...options });
}
