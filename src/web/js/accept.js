/**
 * The one seam of a host: everything that reaches it is a messenger, and every connection is made here.
 */
import { Connection, LEFT, UNREADABLE } from './connection.js';
import { onWindow } from './on-window.js';
import { toAgent } from './transfer.js';

/** @import { Messenger } from './messenger.js' */
/** @import { Shell } from './shell.js' */

/** @typedef {(reason?: string) => void} Close gives the reason to the handlers */

/**
 * Serves the agents behind a messenger, one session after the other.
 *
 * @param {Shell} shell
 * @param {Messenger} messenger
 * @param {(close: Close, held: boolean) => void} [hold] gets the function that closes the messenger, and whether there is anything to close
 */
export function accept(shell, messenger, hold = () => {}) {
  /** @type {Connection | undefined} */
  let connection;
  /** @type {(() => void) | undefined} */
  let forget;

  const connect = () => {
    if (connection) return connection;
    connection = new Connection(shell, messenger);
    // A closed host gives out no numbers. Its connection answers that it is closed, and nothing else.
    if (!connection.number) return connection;
    if (!messenger.lasting) connection.onover = messenger.single ? close : part;
    if (messenger.watched) {
      connection.onlost = lose;
      // The page may come back, but the agent has been told that the host is gone.
      forget = onWindow('pagehide', () => lose(LEFT));
    }
    hold(close, true);
    return connection;
  };
  /** The session is over. Another session may follow, perhaps of another agent. @type {Close} */
  const part = (reason) => {
    forget?.();
    hold(close, messenger.kept === true);
    connection?.close(reason);
    connection = undefined;
    messenger.short = false;
  };
  /** @type {Close} */
  const leave = (reason) => {
    connection?.leave(reason);
    part();
  };
  /** @type {Close} */
  const end = (reason) => {
    leave(reason);
    hold(close, false);
    messenger.onmessage = messenger.oncall = messenger.onclose = messenger.onunreadable = undefined;
  };
  /** @type {Close} */
  const close = (reason) => {
    end(reason);
    messenger.close();
  };
  const lose = (reason = 'The agent disconnected') => (messenger.single ? close(reason) : leave(reason));

  messenger.onmessage = (message, aborted) => connect().receive(message, aborted);
  messenger.oncall = (call) => connect().receiveCall(call);
  messenger.onclose = (reason) => {
    part(reason);
    end();
  };
  // The agent must start again.
  messenger.onunreadable = () => {
    connection?.giveUp(UNREADABLE);
    lose();
  };
  if (messenger.kept) hold(close, true);
  return {
    /** The connection of the current session, which is made if there is none. */
    connect,
    /** Ends the session, and closes the messenger. */
    close,
    /** Ends the session, and leaves the transport open. */
    release() {
      end();
      messenger.release?.();
    },
  };
}

/**
 * A messenger over a transport of the app's own, which may hand over any objects.
 *
 * @param {Pick<import('./messenger.js').Messenger, 'post' | 'close' | 'onmessage' | 'onclose'>} transport
 * @returns {Messenger}
 */
export function messengerOfApp(transport) {
  /** @type {Messenger} */
  const messenger = {
    local: true,
    objects: true,
    kept: true,
    onmessage: undefined,
    onclose: undefined,
    post: (envelope) => toAgent(envelope, (message, moved) => transport.post(message, moved)),
    close() {
      transport.onmessage = transport.onclose = undefined;
      transport.close();
    },
  };
  transport.onmessage = (message) => messenger.onmessage?.(message);
  transport.onclose = () => {
    transport.onmessage = transport.onclose = undefined;
    messenger.onclose?.();
  };
  return messenger;
}
