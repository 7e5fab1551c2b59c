/**
 * A MessagePort, a Worker, the inside of a worker, or an extension's port.
 */
import { abpError, failure } from './errors.js';
import { asJson } from './json.js';
import { announcing, foretold, longResult, nextOf, shortCall, takesShort } from './short.js';

/**
 * @param {any} port
 * @param {boolean} [ours] it was made here, and is closed when the session is over
 * @param {boolean} [short] its other end has said that it takes short messages
 * @returns {import('./messenger.js').Messenger}
 */
export function portMessenger(port, ours = false, short = false) {
  const extension = typeof port?.onMessage?.addListener === 'function';
  if (typeof port?.postMessage !== 'function') throw abpError('INVALID_PARAMS', 'connectPort(port): port must be a MessagePort, a Worker or an extension port');
  const stop = new AbortController();

  /**
   * @param {import('./messenger.js').Envelope} envelope
   * @param {Transferable[]} [transfer]
   */
  const post = (envelope, transfer) => {
    const message = envelope.type === 'initialize' ? announcing(envelope) : short ? shortCall(envelope) : envelope;
    const before = short && foretold(envelope);
    if (before) port.postMessage(before);
    if (transfer && transfer.length > 0) port.postMessage(message, transfer);
    else port.postMessage(message);
  };

  /** @type {import('./messenger.js').Messenger} */
  const messenger = {
    // A MessagePort keeps what comes before it is listened to; a worker does not.
    forgetful: !extension && !port.start,
    onmessage: undefined,
    onclose: undefined,
    post: extension ? (envelope) => port.postMessage(asJson(envelope)) : post,
    close() {
      stop.abort();
      messenger.onmessage = messenger.onclose = undefined;
      if (ours) port.close();
    },
  };
  /** @param {any} message */
  const receive = (message) => {
    if (message?.type === 'initialize-result') short = takesShort(message.payload);
    next = short ? nextOf(message) : undefined;
    if (!next) messenger.onmessage?.(short ? longResult(message) : message);
  };
  const gone = () => messenger.onclose?.();
  /** What comes next. @type {import('./messenger.js').Envelope | undefined} */
  let next;
  /** A message could not be read. If nobody can tell which, the session is over. */
  const lost = () => {
    if (!next) return gone();
    const payload = failure('TRANSPORT_ERROR', 'The message of the app could not be read');
    const { type, id } = next;
    next = undefined;
    if (type === 'elicitation/request') return post({ type: 'elicitation/response', id, timestamp: 0, payload });
    return messenger.onmessage?.({ type, id, timestamp: 0, payload });
  };

  if (extension) {
    listen(port.onMessage, receive);
    listen(port.onDisconnect, gone);
  } else if (port.addEventListener) {
    const { signal } = stop;
    port.addEventListener('message', (/** @type {MessageEvent} */ event) => receive(event.data), { signal });
    port.addEventListener('close', gone, { signal });
    port.addEventListener('messageerror', lost, { signal });
    port.start?.();
  } else {
    on('message', receive);
    on('messageerror', lost);
    on('exit', gone);
  }
  return messenger;

  /** @param {any} event @param {(...args: any[]) => void} listener */
  function listen(event, listener) {
    event?.addListener(listener);
    stop.signal.addEventListener('abort', () => event?.removeListener(listener));
  }

  /** A worker of Node. @param {string} name @param {(...args: any[]) => void} listener */
  function on(name, listener) {
    port.on(name, listener);
    stop.signal.addEventListener('abort', () => port.off(name, listener));
  }
}
