import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';

/**
 * Where an attack comes from, and what it attacks.
 *
 * @typedef {object} Target
 * @property {number} port of the gateway on 127.0.0.1
 * @property {number} [second] the port of a second worker, where there is one
 * @property {string} from the attackers' own loopback address, so that bounds per address are not shared with honest clients
 * @property {AbortSignal} signal ends the attack
 * @property {{ agent: string, app: string }} secrets of the attackers' tokens
 * @property {(what: 'tried' | 'refused') => void} count
 */

/**
 * A connection that has sent this text. Errors of the attackers' own connections are ignored.
 *
 * @param {Target} target
 * @param {string | Uint8Array} [text]
 */
export function raw({ port, from, signal }, text = '') {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from, noDelay: true });
  socket.on('error', () => {});
  signal.addEventListener('abort', () => socket.destroy(), { once: true });
  socket.setMaxListeners(0);
  if (text.length > 0) socket.write(text);
  return socket;
}

/** The head of an attacker's request. @param {Target} target @param {string} line such as `GET /` @param {Record<string, string>} [headers] */
export function head({ port }, line, headers = {}) {
  const all = { Host: `127.0.0.1:${port}`, ...headers };
  return [`${line} HTTP/1.1`, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n');
}

/**
 * Sends a whole request. Returns the status of the answer, or 0 if the connection is closed instead.
 *
 * @param {Target} target
 * @param {string} line
 * @param {Record<string, string>} [headers]
 * @param {string} [body]
 */
export async function request(target, line, headers = {}, body = '') {
  target.count('tried');
  /** @type {Record<string, string>} */
  const length = body === '' ? {} : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) };
  const socket = raw(target, head(target, line, { Connection: 'close', ...length, ...headers }) + body);
  let answer = '';
  socket.setEncoding('latin1').on('data', (text) => {
    if (answer.length < 16) answer += text;
  });
  // A connection that is reset is closed, too. `once` of node:events would reject then.
  await new Promise((resolve) => { socket.once('close', resolve); });
  const status = Number(answer.slice(9, 12)) || 0;
  if (status === 0 || status >= 400) target.count('refused');
  return status;
}

/**
 * Opens a WebSocket. Returns undefined if the gateway refuses it.
 *
 * @param {Target} target
 * @param {string} path
 * @param {{ secret?: string }} [options]
 * @returns {Promise<WebSocket | undefined>}
 */
export async function open(target, path, { secret } = {}) {
  target.count('tried');
  const socket = new WebSocket(`ws://127.0.0.1:${target.port}${path}`, {
    localAddress: target.from,
    perMessageDeflate: false,
    headers: secret === undefined ? {} : { Authorization: `Bearer ${secret}` },
  });
  socket.on('error', () => {});
  socket.setMaxListeners(0);
  target.signal.addEventListener('abort', () => socket.terminate(), { once: true });
  const opened = await new Promise((resolve) => {
    socket.once('open', () => resolve(true));
    socket.once('close', () => resolve(false));
  });
  if (!opened) target.count('refused');
  // The gateway let the socket in, and later closed it because of what it did or to make room.
  socket.once('close', (code) => {
    if (opened && (code === 1008 || code === 1009 || code === 1013)) target.count('refused');
  });
  return opened ? socket : undefined;
}

/** @param {string} type @param {unknown} payload @param {string} [id] */
export function envelope(type, payload, id = 'attack') {
  return JSON.stringify({ type, id, timestamp: Date.now(), payload });
}

/**
 * Repeats the action until the attack ends.
 *
 * @param {Target} target
 * @param {number} pause milliseconds between two rounds
 * @param {(round: number) => unknown} action
 */
export async function again({ signal }, pause, action) {
  for (let round = 0; !signal.aborted; round += 1) {
    await action(round);
    await sleep(pause, undefined, { signal }).catch(() => {});
  }
}

/**
 * Keeps this many connections open, and opens another for each one that is closed.
 *
 * @param {Target} target
 * @param {{ most: number, pause: number }} pace the most connections at once, and the milliseconds between two attempts
 * @param {() => Promise<{ once(event: 'close', heard: () => void): unknown } | undefined>} connectOne
 */
export async function hold(target, { most, pause }, connectOne) {
  let held = 0;
  await again(target, pause, async () => {
    if (held >= most) return;
    held += 1;
    const socket = await connectOne();
    const gone = () => { held -= 1; };
    if (socket) socket.once('close', gone);
    else gone();
  });
}
