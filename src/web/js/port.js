/**
 * What the two ends of a port share: a MessagePort, a Worker, the inside of a worker, or an extension's
 * port.
 */
import { abpError, failure } from './errors.js';
import { nextOf, opensShort } from './short.js';

/** Messages that are answered, with the types of their answers. */
const ANSWERS = new Map([['capabilities/call', 'capabilities/call-result'], ['elicitation/request', 'elicitation/response']]);

/**
 * Reads a port for a messenger.
 *
 * @param {any} port
 * @param {import('./messenger.js').Messenger} messenger
 * @param {(message: any[]) => boolean} readShort reads a message in its short form; false for any other message
 * @param {string} unreadable the answer to a message that could not be read
 */
export function read(port, messenger, readShort, unreadable) {
  /** The peer has said that it accepts short messages. It may still send them after the end of its session. */
  let short = messenger.short === true;
  /** The announced next message. @type {ReturnType<typeof nextOf>} */
  let next;
  /** @param {any} message */
  const receive = (message) => {
    next = undefined;
    if (short && Array.isArray(message)) {
      if (readShort(message)) return undefined;
      next = nextOf(message);
      if (next) return undefined;
    } else if (opensShort(message) && !isExtension(port)) short = messenger.short = true;
    return messenger.onmessage?.(message);
  };
  const gone = () => messenger.onclose?.();
  /** A message could not be read. If it is unknown which, the session is over. */
  const lost = () => {
    if (!next) return messenger.onunreadable ? messenger.onunreadable() : gone();
    const { type, id } = next;
    const answer = ANSWERS.get(type);
    const said = { type: answer ?? type, id, timestamp: Date.now(), payload: failure('TRANSPORT_ERROR', unreadable) };
    next = undefined;
    return answer ? messenger.post(said) : messenger.onmessage?.(said);
  };
  return { receive, stop: listenTo(port, receive, lost, gone) };
}

/** @param {any} port */
export const isExtension = (port) => typeof port.onMessage?.addListener === 'function';

/**
 * @param {any} port
 * @param {string} where it was given
 * @throws {Error} if the value is not a port
 */
export function ensurePort(port, where) {
  // A window is not a port: a host would receive the messages of everybody who posts to it.
  const isWindow = port?.window === port && port?.closed !== undefined;
  if (isWindow || typeof port?.postMessage !== 'function' || !(isExtension(port) || port.addEventListener || port.on)) {
    throw abpError('INVALID_PARAMS', `${where}(port): port must be a MessagePort, a Worker or an extension port`);
  }
}

/**
 * @param {any} port
 * @param {(message: any) => void} receive
 * @param {() => void} lost called when a message could not be read
 * @param {() => void} gone
 * @returns {() => void} stops listening
 */
function listenTo(port, receive, lost, gone) {
  /** @type {(() => void)[]} */
  const stops = [];
  /** @param {any} target @param {string[]} how @param {any[]} what */
  const on = (target, [add = '', remove = ''], ...what) => {
    target?.[add](...what);
    stops.push(() => target?.[remove](...what));
  };
  if (port.onMessage) {
    on(port.onMessage, ['addListener', 'removeListener'], receive);
    on(port.onDisconnect, ['addListener', 'removeListener'], gone);
  } else {
    // A worker of Node has no DOM events.
    const { addEventListener } = port;
    const how = addEventListener ? ['addEventListener', 'removeEventListener'] : ['on', 'off'];
    on(port, how, 'message', addEventListener ? (/** @type {MessageEvent} */ { data }) => receive(data) : receive);
    on(port, how, 'messageerror', lost);
    on(port, how, addEventListener ? 'close' : 'exit', gone);
    port.start?.();
  }
  return () => {
    for (const stop of stops) stop();
  };
}
