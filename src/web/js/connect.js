/**
 * The ways to connect an agent.
 */
import { Agent } from './agent.js';
import { abpError, log, report, text } from './errors.js';
import { guarded } from './guard.js';
import { LifeOfAgent } from './life/of-agent.js';
import { LARGE_MESSAGE } from './events.js';
import { fromText, toText } from './json.js';
import { problemWithMessenger } from './messenger.js';
import { onWindow } from './on-window.js';
import { KNOWN, open, problemWithOptions } from './open.js';
import { uniqueName } from './platform.js';
import { portMessenger } from './agent-port.js';
import { bare, get, getA, originOf } from './read.js';
import { announcing, takesShort } from './short.js';
import { defaultSocket } from './socket.js';

/** The default for transports that do not report a lost peer. */
const LIVENESS = 30_000;

/** @typedef {import('./messenger.js').Messenger} Messenger */
/**
 * Makes a messenger. `isOver` says that the app can never come back, `once` that there is no other messenger.
 *
 * @typedef {(() => Messenger | Promise<Messenger>) & { isOver?: () => boolean, once?: boolean }} Make
 */

/**
 * @typedef {object} Parts loaded when they are used
 * @property {() => Promise<any>} load gives the functions of the wasm half
 * @property {() => Promise<typeof import('./windows/window.js')>} windows
 * @property {() => Promise<typeof import('./sockets/socket.js')>} sockets
 * @property {() => Promise<typeof import('./again/reconnect.js')>} [reconnecting]
 * @property {() => Promise<typeof import('./callbacks/lend.js')>} [lending]
 */

/**
 * Connects over a messenger. A function that makes the messenger is called last: when the module is
 * loaded, and the agent can listen.
 *
 * @param {Parts} parts
 * @param {Messenger | Make} messenger
 * @param {import('./open.js').OpenOptions | null} [given]
 */
export async function connect({ load, reconnecting, lending }, messenger, given) {
  const options = bare(given ?? {}, KNOWN);
  const unfit = problemWithOptions(options);
  if (unfit) throw abpError('INVALID_PARAMS', unfit);
  options.signal?.throwIfAborted();
  const [handle, part] = await Promise.all([load(), options.reconnect && reconnecting?.()]);
  options.signal?.throwIfAborted();
  const again = part ? new part.Again(handle, messenger, options, { abpError, log, madeBy, open, report, rust: guarded(handle) }) : undefined;
  const made = await madeBy(messenger);
  return open(handle, made, options, (session) => new Agent(handle, made, session, options, again, lending));
}

/** @param {Messenger | Make} messenger */
export async function madeBy(messenger) {
  const made = typeof messenger === 'function' ? await madeNow(messenger) : messenger;
  const odd = problemWithMessenger(made);
  if (odd) throw abpError('INVALID_PARAMS', odd);
  return made;
}

/** @param {Make} make */
async function madeNow(make) {
  try {
    return await make();
  } catch (error) {
    throw getA('string', error, 'code') === undefined ? abpError('INVALID_PARAMS', `There is no messenger: ${text(error)}`) : error;
  }
}

/**
 * Connects over a transport that does not report a lost peer: both sides give signs of life.
 *
 * @param {Parts} parts
 * @param {() => Messenger | Promise<Messenger>} make
 * @param {import('./open.js').OpenOptions | null} [options]
 * @param {Pick<Make, 'isOver' | 'once'>} [about]
 */
async function connectNearby(parts, make, options, about) {
  // Called when the module is loaded: it takes a lock, which nobody would release if the loading
  // failed.
  const shown = async () => {
    const life = await LifeOfAgent.begin(uniqueName());
    try {
      return Object.assign(await make(), { life });
    } catch (error) {
      life.end();
      throw error;
    }
  };
  return connect(parts, Object.assign(shown, about), { liveness: LIVENESS, ...options });
}

/**
 * @param {Parts} parts
 * @param {Window | null} win
 * @param {import('./open.js').OpenOptions & { origin?: string } | null} [options]
 */
export async function connectWindow(parts, win, options) {
  if (!globalThis.document) throw abpError('NOT_SUPPORTED', 'connectWindow works in a page. Elsewhere use connectPort, connectWebSocket or connect');
  if (typeof win?.postMessage !== 'function') throw abpError('INVALID_PARAMS', win === null ? 'the frame has no window: it is not in the document' : 'connectWindow takes a window, such as iframe.contentWindow');
  const [{ windowMessenger }] = await Promise.all([parts.windows(), parts.load()]);
  const tools = { abpError, announcing, onWindow, originOf, portMessenger, takesShort };
  return connectNearby(parts, () => windowMessenger(win, get(options, 'origin'), tools), options, { isOver: () => win.closed });
}

/**
 * @param {Parts} parts
 * @param {any} port a port, or a function that makes one
 * @param {import('./open.js').OpenOptions | null} [options]
 */
export async function connectPort(parts, port, options) {
  const made = typeof port === 'function';
  return connectNearby(parts, async () => portMessenger(made ? await port() : port), options, { once: !made });
}

/**
 * @param {Parts} parts
 * @param {string | URL} url
 * @param {import('./open.js').OpenOptions & { token?: string, WebSocket?: any, transport?: Messenger } | null} [options]
 */
export async function connectWebSocket(parts, url, options) {
  const { token, transport, WebSocket } = bare(options ?? {}, KNOWN);
  const given = { liveness: LIVENESS, ...options };
  if (transport) return connect(parts, transport, given);
  const Socket = WebSocket ?? defaultSocket();
  const [{ openSocket, socketMessenger }] = await Promise.all([parts.sockets(), parts.load()]);
  const tools = { abpError, fromText, get, getA, largeMessage: LARGE_MESSAGE, toText };
  return connect(parts, () => socketMessenger(openSocket(url, token, Socket, tools), tools), given);
}
