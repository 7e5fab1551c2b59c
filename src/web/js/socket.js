/**
 * The platform's WebSocket.
 */
import { abpError } from './errors.js';

/** @type {() => any} */
let source = () => globalThis.WebSocket;

/** Sets the source of a WebSocket constructor for a platform without its own. @param {() => any} from */
export function socketFrom(from) {
  source = from;
}

/**
 * @returns {any} the platform's constructor
 * @throws {Error} if there is none
 */
export function defaultSocket() {
  const Socket = source();
  if (!Socket) throw abpError('NOT_SUPPORTED', 'There is no WebSocket here: install `ws`, or pass the option `WebSocket`');
  return Socket;
}
