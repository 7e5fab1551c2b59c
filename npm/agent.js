/**
 * Agents: callers of another page's, worker's or server's capabilities.
 */
import { lifeOfAgent } from '../src/web/js/life/of-agent.js';
import { abpError } from '../src/web/js/errors.js';
import { problemWithMessenger } from '../src/web/js/messenger.js';
import { open, problemWithOptions } from '../src/web/js/open.js';
import { newId } from '../src/web/js/platform.js';
import { portMessenger } from '../src/web/js/port.js';
import { defaultSocket, openSocket, socketMessenger } from '../src/web/js/socket.js';
import { windowMessenger } from '../src/web/js/window.js';
import { load } from './wasm.js';

export { Agent } from '../src/web/js/agent.js';
export { CapHostError } from '../src/web/js/errors.js';

/** Where nothing tells that the peer is gone. */
const LIVENESS = 30_000;

/** @typedef {import('../src/web/js/messenger.js').Messenger} Messenger */

/**
 * Connects over a messenger. A function that makes one is called last: when the module is there, and
 * it can be listened to.
 *
 * @param {Messenger | (() => Messenger | Promise<Messenger>)} messenger
 * @param {import('../src/web/js/open.js').OpenOptions} [options]
 */
export async function connect(messenger, options = {}) {
  const unfit = problemWithOptions(options);
  if (unfit) throw abpError('INVALID_PARAMS', unfit);
  const { AgentHandle } = await load();
  const made = typeof messenger === 'function' ? await messenger() : messenger;
  const odd = problemWithMessenger(made);
  if (odd) throw abpError('INVALID_PARAMS', odd);
  return open(AgentHandle, made, options);
}

/**
 * Connects to where nothing tells that the peer is gone: both sides give signs of life.
 *
 * @param {() => Messenger} messenger
 * @param {import('../src/web/js/open.js').OpenOptions} options
 */
async function connectNearby(messenger, options) {
  // Called when the module is loaded: it holds a lock, which nobody would let go of if that failed.
  const shown = async () => (await lifeOfAgent(newId()))(messenger);
  return connect(shown, { liveness: LIVENESS, ...options });
}

/**
 * @param {Window} win
 * @param {import('../src/web/js/open.js').OpenOptions & { origin?: string }} [options]
 */
export async function connectWindow(win, options = {}) {
  if (!globalThis.document) throw abpError('NOT_SUPPORTED', 'connectWindow works in a page, and there is none here. Without one, use connectPort, connectWebSocket or connect');
  if (typeof win?.postMessage !== 'function') throw abpError('INVALID_PARAMS', `connectWindow takes a window, such as iframe.contentWindow, and was given ${win === null ? 'null' : typeof win}`);
  return connectNearby(() => windowMessenger(win, options.origin ?? location.origin), options);
}

/**
 * @param {any} port
 * @param {import('../src/web/js/open.js').OpenOptions} [options]
 */
export async function connectPort(port, options = {}) {
  return connectNearby(() => portMessenger(port), options);
}

/**
 * @param {string | URL} url
 * @param {import('../src/web/js/open.js').OpenOptions & { token?: string, WebSocket?: any, transport?: Messenger }} [options]
 */
export async function connectWebSocket(url, options = {}) {
  const { token, transport } = options;
  const Socket = transport ? undefined : (options.WebSocket ?? defaultSocket());
  return connect(() => transport ?? socketMessenger(openSocket(url, token, Socket)), { liveness: LIVENESS, ...options });
}
