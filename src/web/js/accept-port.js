/**
 * The host's end of a port.
 *
 * A port without a session is referenced only by its own listeners. Once the other end is gone, the
 * port is garbage, whether or not the browser reports that end.
 */
import { accept } from './accept.js';
import { claim, isClaimed } from './claim.js';
import { UNREADABLE } from './connection.js';
import { asJson } from './json.js';
import { isSimple } from './plain.js';
import { ensurePort, isExtension, read } from './port.js';
import { announcement, foretold, isShortCall, shortResult } from './short.js';
import { carry, isGiven, toAgent } from './transfer.js';

/** @import { Messenger } from './messenger.js' */

/**
 * @param {import('./shell.js').Shell} shell
 * @param {any} port
 * @param {Parameters<typeof accept>[2]} hold
 * @param {{ replace?: boolean, initialize?: any, from?: number[] }} [options] `replace`: instead of another host;
 *   `initialize`: the message that brought the port, which is then closed with the session; `from`: its source
 * @returns {() => void} releases the port, and leaves it open
 */
export function acceptPort(shell, port, hold, { replace, initialize, from } = {}) {
  ensurePort(port, 'acceptPort');
  const extension = isExtension(port);
  const release = () => accepted.release();
  const unclaim = claim(port, 'port', replace, release);

  /** @param {any} message @param {Transferable[]} moved */
  const post = (message, moved) => (moved.length > 0 ? port.postMessage(message, moved) : port.postMessage(message));

  /** @type {Messenger} */
  const messenger = {
    from,
    alone: !extension,
    objects: !extension,
    kept: extension,
    single: initialize !== undefined,
    watched: true,
    short: false,
    onmessage: undefined,
    oncall: undefined,
    onclose: undefined,
    post(envelope) {
      if (extension) return port.postMessage(asJson(envelope));
      const before = messenger.short && foretold(envelope);
      if (before) port.postMessage(before);
      return toAgent(envelope, post);
    },
    postResult(id, data, duration) {
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
    },
    release() {
      unclaim();
      stop();
    },
    close() {
      messenger.release?.();
      if (extension) port.disconnect?.();
      // Ending a worker is not our right, and a worker has no way to close only the connection.
      else if (port instanceof MessagePort) port.close();
    },
  };
  /** @param {any[]} message */
  const readShort = (message) => {
    const isCall = isShortCall(message);
    if (isCall) messenger.oncall?.(message);
    return isCall;
  };
  const accepted = accept(shell, messenger, hold);
  const { receive, stop } = read(port, messenger, readShort, UNREADABLE);
  if (initialize) {
    receive(initialize);
    // The host refused the session: an agent that tries again brings another port.
    if (messenger.onmessage && !shell.rust.sessionId(shell.number, accepted.connect().number)) accepted.close();
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
