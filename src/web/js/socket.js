/**
 * A WebSocket: JSON text frames.
 */
import { abpError } from './errors.js';
import { fromText, toText } from './json.js';

const OPENING = 0;
const OPEN = 1;

/**
 * @param {any} socket a browser's WebSocket, or one that looks like it
 * @returns {import('./messenger.js').Messenger}
 */
export function socketMessenger(socket) {
  /** @type {string[]} */
  const waiting = [];
  let opened = false;

  /** @type {import('./messenger.js').Messenger} */
  const messenger = {
    onmessage: undefined,
    onclose: undefined,
    post(envelope) {
      const text = toText(envelope);
      if (socket.readyState === OPEN) socket.send(text);
      else if (socket.readyState === OPENING) waiting.push(text);
    },
    close() {
      messenger.onmessage = messenger.onclose = undefined;
      socket.close();
    },
  };
  socket.addEventListener('open', () => {
    opened = true;
    for (const text of waiting.splice(0)) socket.send(text);
  });
  socket.addEventListener('message', (/** @type {{ data: unknown }} */ { data }) => {
    const envelope = typeof data === 'string' ? fromText(data) : undefined;
    if (envelope !== undefined) messenger.onmessage?.(envelope);
  });
  socket.addEventListener('close', (/** @type {{ code?: number, reason?: string }} */ { code, reason }) => {
    messenger.onclose?.(abpError('DISCONNECTED', `The connection was closed (${code}${reason ? `: ${reason}` : ''})`));
  });
  socket.addEventListener('error', () => {
    // No close need follow where the browser lets nobody connect: to a blocked port in WebKit, past
    // the page's Content-Security-Policy in Chromium. Once it is open, one follows and tells more.
    if (!opened) messenger.onclose?.(abpError('DISCONNECTED', `The connection to ${socket.url} failed`));
  });
  return messenger;
}

/** @type {() => any} */
let source = () => globalThis.WebSocket;

/** Says where a platform without a WebSocket of its own gets one. @param {() => any} from */
export function socketFrom(from) {
  source = from;
}

/** @returns {any} the platform's constructor, or a promise of it; undefined where there is none */
export const defaultSocket = () => source();

/**
 * @param {string | URL} url of a gateway, such as `ws://127.0.0.1:8787/abp?app=my-app`
 * @param {string | undefined} token
 * @param {any} Socket
 */
export function openSocket(url, token, Socket) {
  if (!Socket) throw abpError('NOT_SUPPORTED', 'There is no WebSocket here: install `ws`, or pass the option `WebSocket`');
  try {
    // A browser cannot set headers: the secret goes as a subprotocol beside the one that is chosen.
    return new Socket(String(url), token === undefined ? [] : ['abp', `caphost.token.${token}`]);
  } catch (error) {
    throw abpError('INVALID_PARAMS', `Cannot connect to ${url}: ${error instanceof Error ? error.message : error}`);
  }
}
