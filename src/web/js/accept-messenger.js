/**
 * Agents behind a transport of the app's own.
 */
import { Connection } from './connection.js';
import { toAgent } from './transfer.js';

/**
 * @param {import('./shell.js').Shell} shell
 * @param {Pick<import('./messenger.js').Messenger, 'post' | 'close' | 'onmessage' | 'onclose'>} messenger
 * @param {(close: () => void, held: boolean) => void} hold gets the function that closes it, and whether there is anything to close
 * @returns {() => void} ends the session, and closes the messenger
 */
export function acceptMessenger(shell, messenger, hold) {
  /** @type {Connection | undefined} */
  let connection;

  const connect = () => {
    /** @type {Connection} */
    const made = new Connection(shell, (envelope) => toAgent(envelope, (message, moved) => messenger.post(message, moved)));
    made.onover = part;
    // The app's own transport may hand over any objects.
    made.local = true;
    return made;
  };
  /** The session is over. Another session may follow. */
  const part = () => {
    connection?.close();
    connection = undefined;
  };
  const release = () => {
    messenger.onmessage = messenger.onclose = undefined;
    part();
    hold(close, false);
  };
  const close = () => {
    connection?.leave();
    release();
    messenger.close();
  };
  messenger.onmessage = (message) => {
    connection ??= connect();
    connection.hear(message);
  };
  messenger.onclose = release;
  hold(close, true);
  return close;
}
