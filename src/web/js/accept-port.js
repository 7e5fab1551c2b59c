/**
 * Agents on a MessagePort, a Worker, the inside of a worker, or an extension's port.
 *
 * A port over which nobody has a session is held by its own listeners alone: once its other end is
 * gone it is garbage, whether the browser tells of that end or not.
 */
import { Connection, LEFT, UNREADABLE } from './connection.js';
import { abpError } from './errors.js';
import { asJson } from './json.js';
import { isExtension, listenTo } from './port.js';
import { foretold, longCall, nextOf, shortResult, takesShort } from './short.js';
import { transferables } from './transfer.js';

/** Two hosts would run each call twice. */
export const SERVED = 'has a host already: close it first, or pass { replace: true }';

/** Of the ports that a host hears: what has it let go of one. @type {WeakMap<object, () => void>} */
const taken = new WeakMap();

/**
 * @param {import('./shell.js').Shell} shell
 * @param {any} port
 * @param {(close: (reason?: string) => void, held: boolean) => void} hold told what closes the port, and whether
 *   there is something to be closed
 * @param {{ replace?: boolean, initialize?: any }} [options] `replace`: instead of another host;
 *   `initialize`: that brought the port, which is closed with the session then
 * @returns {() => void} lets go of the port, and leaves it open
 */
export function acceptPort(shell, port, hold, { replace, initialize } = {}) {
  const extension = isExtension(port, 'acceptPort');
  if (taken.has(port) && !replace) {
    throw abpError('INVALID_PARAMS', `This port ${SERVED}`);
  }
  taken.get(port)?.();
  /** @type {Connection | undefined} */
  let connection;
  /** The agent has said that it takes short messages. It may still send them when its session is over. */
  let short = false;

  const connect = () => {
    /** @type {Connection} */
    const made = new Connection(shell, (envelope) => {
      if (extension) return port.postMessage(asJson(envelope));
      const before = made.short && foretold(envelope);
      if (before) port.postMessage(before);
      const moved = transferables(envelope.payload, made.wantsTransfer(envelope));
      const message = made.short ? shortResult(envelope) : envelope;
      return moved.length > 0 ? port.postMessage(message, moved) : port.postMessage(message);
    });
    // The host is closed, and this connection answers nothing else.
    if (!made.number) return made;
    made.onover = initialize ? () => close() : part;
    made.onlost = lose;
    hold(close, true);
    globalThis.addEventListener?.('pagehide', onHide);
    return made;
  };
  /** The session is over, and there may be another. */
  const part = () => {
    globalThis.removeEventListener?.('pagehide', onHide);
    hold(close, extension);
    connection?.close();
    connection = undefined;
  };
  /** @param {string} [reason] */
  const end = (reason) => {
    if (taken.get(port) === release) taken.delete(port);
    stop();
    connection?.leave(reason);
    part();
    hold(close, false);
  };
  const release = () => end();
  /** @param {string} [reason] */
  const close = (reason) => {
    end(reason);
    if (extension) port.disconnect?.();
    // A worker is not ours to end, and has no close that spares it.
    else if (port instanceof MessagePort) port.close();
  };
  /** The other end is gone: nobody hears what is sent any more. */
  const gone = () => {
    part();
    close();
  };
  /**
   * The page is left, or its agent seems to be gone. Either may come back, but the agent has been
   * told that the host is gone.
   *
   * @param {string} [reason]
   */
  const lose = (reason = 'The agent disconnected') => {
    if (initialize) return close(reason);
    connection?.leave(reason);
    return part();
  };
  const onHide = () => lose(LEFT);
  /** A message could not be read. If nobody can tell which, the agent has to begin anew. */
  const onLost = () => {
    if (next && connection) return connection.lost(next);
    connection?.giveUp(UNREADABLE);
    lose();
  };
  /** @param {any} message */
  const hear = (message) => {
    connection ??= connect();
    if (!extension && message?.type === 'initialize' && takesShort(message.payload)) short = connection.short = true;
    connection.hear(message);
  };
  /** What comes next. @type {import('./messenger.js').Envelope | undefined} */
  let next;
  /** @param {any} data */
  const onMessage = (data) => {
    next = short ? nextOf(data) : undefined;
    if (!next) hear(short ? longCall(data) : data);
  };

  taken.set(port, release);
  if (extension) hold(close, true);
  const stop = listenTo(port, onMessage, onLost, gone);
  if (initialize) hear(initialize);
  return release;
}

/**
 * What a closed host does about a port over which it still answers that it is closed: Node need not
 * go on for that. It holds nothing. A worker of Node's is for others to end, and so is a port that has
 * been let go of.
 *
 * @param {any} port that was just accepted
 * @param {() => void} release what lets go of it
 */
export function idles(port, release) {
  const [known, mine] = [new WeakRef(port), new WeakRef(release)];
  return () => {
    const left = known.deref();
    if (left?.start && taken.get(left) === mine.deref()) left.unref?.();
  };
}
