/**
 * A MessagePort, a Worker, the inside of a worker, or an extension's port.
 */
import { abpError, failure } from './errors.js';
import { asJson } from './json.js';
import { isSimple } from './inspect.js';
import { announcement, announcing, foretold, isShortResult, longResult, nextOf, shortCall, takesShort } from './short.js';

/**
 * @param {any} port
 * @param {boolean} [ours] whether it was made here, and is closed when the session is over
 * @param {boolean} [short] whether its other end has said that it accepts short messages
 * @returns {import('./messenger.js').Messenger}
 */
export function portMessenger(port, ours = false, short = false) {
  const extension = isExtension(port, 'connectPort');

  /**
   * @param {import('./messenger.js').Envelope} envelope
   * @param {Transferable[]} [transfer]
   */
  const post = (envelope, transfer) => {
    const { type, id, payload } = envelope;
    if (short && type === 'capabilities/call') return send(shortCall(Number(id), payload), transfer, isSimple(payload) ? undefined : announcement(type, Number(id)));
    return send(type === 'initialize' ? announcing(envelope) : envelope, transfer, short ? foretold(envelope) : undefined);
  };

  /**
   * @param {number} key
   * @param {any} payload
   * @param {Transferable[]} [transfer] given for parameters that are not a copy of plain ones
   */
  const postCall = (key, payload, transfer) => {
    const type = 'capabilities/call';
    if (!short) return post({ type, id: String(key), timestamp: Date.now(), payload }, transfer);
    return send(shortCall(key, payload), transfer, transfer && announcement(type, key));
  };

  /**
   * @param {unknown} message
   * @param {Transferable[]} [transfer]
   * @param {unknown[]} [before] its announcement
   */
  const send = (message, transfer, before) => {
    if (before) port.postMessage(before);
    if (transfer && transfer.length > 0) port.postMessage(message, transfer);
    else port.postMessage(message);
  };

  /** @type {import('./messenger.js').Messenger} */
  const messenger = {
    // A MessagePort keeps messages until somebody listens. A worker does not, and neither does the port
    // of an extension that wakes up.
    forgetful: !port.start,
    onmessage: undefined,
    onclose: undefined,
    onresult: undefined,
    post: extension ? (envelope) => port.postMessage(asJson(envelope)) : post,
    postCall: extension ? undefined : postCall,
    close() {
      stop();
      messenger.onmessage = messenger.onresult = messenger.onclose = undefined;
      if (ours) port.close();
    },
  };
  /** @param {any} message */
  const receive = (message) => {
    next = undefined;
    if (short && Array.isArray(message)) return receiveShort(message);
    if (message?.type === 'initialize-result') short = takesShort(message.payload);
    return messenger.onmessage?.(message);
  };
  /** @param {any[]} message */
  const receiveShort = (message) => {
    if (!isShortResult(message)) {
      next = nextOf(message);
      return next ? undefined : messenger.onmessage?.(message);
    }
    const { onresult } = messenger;
    return onresult ? onresult(message[1], message[2], message[3]) : messenger.onmessage?.(longResult(message));
  };
  const gone = () => messenger.onclose?.();
  /** The announced next message. @type {import('./messenger.js').Envelope | undefined} */
  let next;
  /** A message could not be read. If it is unknown which, the session is over. */
  const lost = () => {
    if (!next) return gone();
    const payload = failure('TRANSPORT_ERROR', 'The message of the app could not be read');
    const { type, id } = next;
    next = undefined;
    if (type === 'elicitation/request') return post({ type: 'elicitation/response', id, timestamp: 0, payload });
    return messenger.onmessage?.({ type, id, timestamp: 0, payload });
  };

  const stop = listenTo(port, receive, lost, gone);
  return messenger;
}

/**
 * @param {any} port
 * @param {string} where it was given
 * @returns {boolean} whether it is an extension's
 * @throws {Error} if the value is not a port
 */
export function isExtension(port, where) {
  // A window is not a port: a host would hear everybody who posts to it.
  const isWindow = port?.window === port && port?.closed !== undefined;
  const extension = !isWindow && typeof port?.onMessage?.addListener === 'function';
  if (isWindow || typeof port?.postMessage !== 'function' || !(extension || port.addEventListener || port.on)) {
    throw abpError('INVALID_PARAMS', `${where}(port): port must be a MessagePort, a Worker or an extension port`);
  }
  return extension;
}

/**
 * @param {any} port
 * @param {(message: any) => void} hear
 * @param {() => void} lost called when a message could not be read
 * @param {() => void} gone
 * @returns {() => void} stops listening
 */
export function listenTo(port, hear, lost, gone) {
  /** @type {(() => void)[]} */
  const stops = [];
  /** @param {any} target @param {string[]} how @param {any[]} what */
  const on = (target, [add = '', remove = ''], ...what) => {
    target?.[add](...what);
    stops.push(() => target?.[remove](...what));
  };
  if (port.onMessage) {
    on(port.onMessage, ['addListener', 'removeListener'], hear);
    on(port.onDisconnect, ['addListener', 'removeListener'], gone);
  } else {
    // A worker of Node has no DOM events.
    const { addEventListener } = port;
    const how = addEventListener ? ['addEventListener', 'removeEventListener'] : ['on', 'off'];
    on(port, how, 'message', addEventListener ? (/** @type {MessageEvent} */ { data }) => hear(data) : hear);
    on(port, how, 'messageerror', lost);
    on(port, how, addEventListener ? 'close' : 'exit', gone);
    port.start?.();
  }
  return () => {
    for (const stop of stops) stop();
  };
}
