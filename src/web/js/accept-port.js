/**
 * Agents on a MessagePort, a Worker, the inside of a worker, or an extension's port.
 */
import { Connection } from './connection.js';
import { transferables } from './transfer.js';

/**
 * @param {import('./host.js').Host} host
 * @param {any} port
 * @param {() => void} [gone] called when the port is closed by the other side
 * @param {(connection: Connection) => void} [opened]
 * @returns {() => void} closes it
 */
export function acceptPort(host, port, gone, opened) {
  const extension = typeof port.onMessage?.addListener === 'function';
  /** @param {any} envelope */
  const send = (envelope) => {
    if (extension) port.postMessage(envelope);
    else port.postMessage(envelope, transferables(envelope.payload, connection.wantsTransfer(envelope)));
  };
  const connection = new Connection(host, send);
  opened?.(connection);
  /** @param {{ data: any }} event */
  const onMessage = ({ data }) => {
    connection.hear(data);
    // A port that came with a session goes with it.
    if (opened && data?.type === 'shutdown') onClose();
  };
  const onHide = () => connection.leave();
  const onClose = () => {
    close();
    gone?.();
  };
  const close = () => {
    if (extension) {
      port.onMessage.removeListener(onExtensionMessage);
      port.disconnect?.();
    } else {
      port.removeEventListener('message', onMessage);
      port.removeEventListener('close', onClose);
      onHide();
      // A worker is not ours to end, and has no close that spares it.
      if (port instanceof MessagePort) port.close();
    }
    globalThis.removeEventListener?.('pagehide', onHide);
    connection.close();
  };
  /** @param {unknown} message */
  const onExtensionMessage = (message) => connection.hear(message);
  if (extension) {
    port.onMessage.addListener(onExtensionMessage);
    port.onDisconnect?.addListener(onClose);
  } else {
    port.addEventListener('message', onMessage);
    port.addEventListener('close', onClose);
    port.start?.();
  }
  globalThis.addEventListener?.('pagehide', onHide);
  return close;
}
