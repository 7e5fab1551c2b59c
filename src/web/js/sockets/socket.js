/**
 * An agent's end of a WebSocket: JSON text frames. A page loads this part with its first WebSocket.
 */
const OPENING = 0;
const OPEN = 1;

/** Bytes of a message that takes its time. */
const LARGE = 65_536;

/**
 * @typedef {object} Tools shared with the code that every page loads
 * @property {typeof import('../errors.js').abpError} abpError
 * @property {typeof import('../json.js').fromText} fromText
 * @property {typeof import('../read.js').get} get
 * @property {typeof import('../read.js').getA} getA
 * @property {string} largeMessage the event that announces a large message
 * @property {typeof import('../json.js').toText} toText
 */

/**
 * @param {any} socket a browser's WebSocket, or one that looks like it
 * @param {Tools} tools
 * @returns {import('../messenger.js').Messenger}
 */
export function socketMessenger(socket, { abpError, fromText, get, getA, largeMessage, toText }) {
  /** @type {string[]} */
  const waiting = [];
  let opened = false;

  /** @type {import('../messenger.js').Messenger} */
  const messenger = {
    // A gateway tells the agent about a message that takes its time.
    life: { announced: { large: true } },
    onmessage: undefined,
    onclose: undefined,
    post(envelope) {
      const text = toText(envelope);
      if (socket.readyState === OPEN) socket.send(text);
      else if (socket.readyState === OPENING) waiting.push(text);
      return text.length > LARGE ? new Blob([text]).size : 0;
    },
    close() {
      messenger.onmessage = messenger.onclose = undefined;
      socket.close();
    },
  };
  const end = (/** @type {string} */ how, /** @type {any} */ cause = undefined) => {
    const error = abpError('DISCONNECTED', `The connection to ${shown(socket.url)} ${how}`);
    messenger.onclose?.(cause ? Object.assign(error, { cause }) : error);
  };
  socket.addEventListener('open', () => {
    opened = true;
    for (const text of waiting.splice(0)) socket.send(text);
  });
  socket.addEventListener('message', (/** @type {{ data: unknown }} */ { data }) => {
    const envelope = typeof data === 'string' ? fromText(data) : undefined;
    const told = get(envelope, 'payload');
    if (get(told, 'event') === largeMessage) messenger.onexpect?.(getA('number', get(told, 'data'), 'bytes') ?? 0);
    else if (envelope !== undefined) messenger.onmessage?.(envelope);
  });
  socket.addEventListener('close', (/** @type {{ code?: number, reason?: string }} */ { code, reason = '' }) => {
    const how = opened ? 'was closed' : 'failed: nobody answered there, or the gateway refused it';
    end(`${how} (${code}${reason && ': '}${reason})`);
  });
  socket.addEventListener('error', (/** @type {{ error?: any }} */ { error }) => {
    // If the browser refuses to connect, there may be no close event: for a blocked port in WebKit, for
    // a violation of the page's Content-Security-Policy in Chromium. After the socket has opened, a
    // close event always comes, with more details.
    const origin = globalThis.location?.origin;
    // The browser does not tell a page the cause.
    const why = error?.code ?? getA('string', error, 'message');
    const said = `failed${why ? `: ${why}` : ''}. `;
    // The package `ws` tells the status of a server that answers, but not with a WebSocket.
    if (/response: \d/.test(why ?? '')) end(`${said}A server answers there, but not as a gateway does at this path. Agents connect to /abp`, error);
    else if (!opened) end(`${said}Is the gateway running${origin ? `, does it allow ${origin}, and does the connect-src of this page allow it` : ''}? Agents connect to /abp`, error);
  });
  return messenger;
}

/** A URL for error texts, without a token in it. @param {unknown} url */
const shown = (url) => String(url).replace(/([?&]token=)[^&#]*/, '$1…');

/**
 * @param {string | URL} url of a gateway, such as `ws://127.0.0.1:8787/abp?app=my-app`
 * @param {string | undefined} token
 * @param {any} Socket
 * @param {Tools} tools
 */
export function openSocket(url, token, Socket, { abpError }) {
  try {
    // A browser cannot set headers, so the secret is sent as a second subprotocol, beside the one that
    // is chosen.
    return new Socket(String(url), token === undefined ? [] : ['abp', `caphost.token.${token}`]);
  } catch (error) {
    throw abpError('INVALID_PARAMS', `Cannot connect to ${url}: ${error instanceof Error ? error.message : error}`);
  }
}
