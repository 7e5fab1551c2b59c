/**
 * Agents: callers of another page's, worker's or server's capabilities.
 */
import { lifeOfAgent } from '../src/web/js/life/of-agent.js';
import { abpError } from '../src/web/js/errors.js';
import { open, problemWithOptions } from '../src/web/js/open.js';
import { newId } from '../src/web/js/platform.js';
import { portMessenger } from '../src/web/js/port.js';
import { defaultSocket, openSocket, socketMessenger } from '../src/web/js/socket.js';
import { windowMessenger } from '../src/web/js/window.js';
import { load } from './wasm.js';

export { Agent } from '../src/web/js/agent.js';

/** Where nothing tells that the peer is gone. */
const LIVENESS = 30_000;

/**
 * Connects over a messenger, which is made last: when the module is there, and it can be listened to.
 *
 * @param {() => import('../src/web/js/messenger.js').Messenger | Promise<import('../src/web/js/messenger.js').Messenger>} messenger
 * @param {import('../src/web/js/open.js').OpenOptions} options
 */
export async function connect(messenger, options) {
  const unfit = problemWithOptions(options);
  if (unfit) throw abpError('INVALID_PARAMS', unfit);
  const { AgentHandle } = await load();
  return open(AgentHandle, await messenger(), options);
}

/**
 * Connects to where nothing tells that the peer is gone: both sides give signs of life.
 *
 * @param {() => import('../src/web/js/messenger.js').Messenger} messenger
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
 * @param {import('../src/web/js/open.js').OpenOptions & { token?: string, WebSocket?: any, transport?: import('../src/web/js/messenger.js').Messenger }} [options]
 */
export async function connectWebSocket(url, options = {}) {
  const { token, transport } = options;
  const Socket = transport ? undefined : (options.WebSocket ?? (await defaultSocket()));
  return connect(() => transport ?? socketMessenger(openSocket(url, token, Socket)), { liveness: LIVENESS, ...options });
}
