/**
 * The agent's end of a port.
 */
import { asJson } from './json.js';
import { isSimple } from './plain.js';
import { ensurePort, isExtension, read } from './port.js';
import { announcement, announcing, foretold, isShortResult, longResult, shortCall } from './short.js';

/** @import { Messenger, Envelope } from './messenger.js' */

/**
 * @param {any} port
 * @param {boolean} [ours] whether it was made here, and is closed when the session is over
 * @param {boolean} [short] whether its other end has said that it accepts short messages
 * @returns {Messenger}
 */
export function portMessenger(port, ours = false, short = false) {
  ensurePort(port, 'connectPort');
  const extension = isExtension(port);

  /**
   * @param {Envelope} envelope
   * @param {Transferable[]} [transfer]
   */
  const post = (envelope, transfer) => {
    const { type, id, payload } = envelope;
    if (messenger.short && type === 'capabilities/call') return send(shortCall(Number(id), payload), transfer, isSimple(payload) ? undefined : announcement(type, Number(id)));
    return send(type === 'initialize' ? announcing(envelope) : envelope, transfer, messenger.short ? foretold(envelope) : undefined);
  };

  /**
   * @param {number} key
   * @param {any} payload
   * @param {Transferable[]} [transfer] given for parameters that are not a copy of plain ones
   */
  const postCall = (key, payload, transfer) => {
    const type = 'capabilities/call';
    if (!messenger.short) return post({ type, id: String(key), timestamp: Date.now(), payload }, transfer);
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

  /** @type {Messenger} */
  const messenger = {
    // A MessagePort keeps messages until somebody listens. A worker does not, and neither does the port
    // of an extension that wakes up.
    forgetful: !port.start,
    short,
    onmessage: undefined,
    onclose: undefined,
    onresult: undefined,
    post: extension ? (envelope) => port.postMessage(asJson(envelope)) : post,
    postCall: extension ? undefined : postCall,
    close() {
      messenger.life?.end?.();
      stop();
      messenger.onmessage = messenger.onresult = messenger.onclose = undefined;
      if (ours) port.close();
    },
  };
  /** @param {any[]} message */
  const readShort = (message) => {
    if (!isShortResult(message)) return false;
    const { onresult } = messenger;
    if (onresult) onresult(message[1], message[2], message[3]);
    else messenger.onmessage?.(longResult(message));
    return true;
  };
  const { stop } = read(port, messenger, readShort, 'The message of the app could not be read');
  return messenger;
}
