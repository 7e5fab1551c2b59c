/**
 * Agents on a MessagePort, a Worker, the inside of a worker, or an extension's port.
 *
 * A port without a session is referenced only by its own listeners. Once the other end is gone, the
 * port is garbage, whether or not the browser reports that end.
 */
import { claim, isClaimed } from './claim.js';
import { Connection, LEFT, UNREADABLE } from './connection.js';
import { asJson } from './json.js';
import { onWindow } from './on-window.js';
import { isExtension, listenTo } from './port.js';
import { isSimple } from './inspect.js';
import { announcement, foretold, isShortCall, nextOf, shortResult, takesShort } from './short.js';
import { carry, isGiven, toAgent } from './transfer.js';

/**
 * @param {import('./shell.js').Shell} shell
 * @param {any} port
 * @param {(close: (reason?: string) => void, held: boolean) => void} hold gets the function that closes the port, and whether
 *   there is anything to close
 * @param {{ replace?: boolean, initialize?: any, from?: number[] }} [options] `replace`: instead of another host;
 *   `initialize`: the message that brought the port, which is then closed with the session; `from`: its source
 * @returns {() => void} releases the port, and leaves it open
 */
export function acceptPort(shell, port, hold, { replace, initialize, from } = {}) {
  const extension = isExtension(port, 'acceptPort');
  /** @type {Connection | undefined} */
  let connection;
  /** @type {(() => void) | undefined} */
  let forget;
  /** The agent has said that it accepts short messages. It may still send them after the end of its session. */
  let short = false;

  /** @param {any} message @param {Transferable[]} moved */
  const post = (message, moved) => (moved.length > 0 ? port.postMessage(message, moved) : port.postMessage(message));

  /** @param {unknown} id @param {unknown} data @param {number} duration */
  const postResult = (id, data, duration) => {
    const message = shortResult(id, data, duration);
    if (!isSimple(data)) port.postMessage(announcement('capabilities/call-result', id));
    else {
      try {
        return port.postMessage(message);
      } catch {
        // It is a proxy, which is copied below.
      }
    }
    return carry(message, post, data, isGiven);
  };

  const connect = () => {
    /** @type {Connection} */
    const made = new Connection(shell, (envelope) => {
      if (extension) return port.postMessage(asJson(envelope));
      const before = made.short && foretold(envelope);
      if (before) port.postMessage(before);
      return toAgent(envelope, post);
    }, from);
    // The host is closed, and this connection answers nothing else.
    if (!made.number) return made;
    made.onover = initialize ? () => close() : part;
    made.onlost = lose;
    made.alone = !extension;
    hold(close, true);
    forget = onWindow('pagehide', onHide);
    return made;
  };
  /** The session is over. Another session may follow. */
  const part = () => {
    forget?.();
    hold(close, extension);
    connection?.close();
    connection = undefined;
  };
  /** @param {string} [reason] */
  const end = (reason) => {
    unclaim();
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
    // Ending a worker is not our right, and a worker has no way to close only the connection.
    else if (port instanceof MessagePort) port.close();
  };
  /** The other end is gone: nobody receives messages any more. */
  const gone = () => {
    part();
    close();
  };
  /**
   * The user leaves the page, or its agent seems to be gone. Either may come back, but the agent has
   * been told that the host is gone.
   *
   * @param {string} [reason]
   */
  const lose = (reason = 'The agent disconnected') => {
    if (initialize) return close(reason);
    connection?.leave(reason);
    return part();
  };
  const onHide = () => lose(LEFT);
  /** A message could not be read. If it is unknown which, the agent must start again. */
  const onLost = () => {
    if (next && connection) return connection.lost(next);
    connection?.giveUp(UNREADABLE);
    lose();
  };
  /** @param {any} message */
  const hear = (message) => {
    connection ??= connect();
    if (!extension && message?.type === 'initialize' && takesShort(message.payload)) {
      short = connection.short = true;
      connection.sendResult = postResult;
    }
    connection.hear(message);
  };
  /** The announced next message. @type {import('./messenger.js').Envelope | undefined} */
  let next;
  /** @param {any} data */
  const onMessage = (data) => {
    next = undefined;
    if (short && Array.isArray(data)) hearShort(data);
    else hear(data);
  };
  /** @param {any[]} message */
  const hearShort = (message) => {
    if (isShortCall(message)) return (connection ??= connect()).receiveCall(message);
    next = nextOf(message);
    return next ? undefined : hear(message);
  };

  const unclaim = claim(port, 'port', replace, release);
  if (extension) hold(close, true);
  const stop = listenTo(port, onMessage, onLost, gone);
  if (initialize) {
    hear(initialize);
    // The host refused the session: an agent that tries again brings another port.
    if (connection && !shell.rust.sessionId(shell.number, connection.number)) close();
  }
  return release;
}

/**
 * How a closed host treats a port on which it still answers that it is closed. The port must not keep a
 * Node process running, and it holds nothing. The host does not end a worker of Node, nor a port that
 * it has released.
 *
 * @param {any} port that was just accepted
 * @param {() => void} release releases the port
 */
export function idles(port, release) {
  const [known, mine] = [new WeakRef(port), new WeakRef(release)];
  return () => {
    const left = known.deref();
    if (left?.start && isClaimed(left, 'port', mine.deref())) left.unref?.();
  };
}
