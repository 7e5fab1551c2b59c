/**
 * Agents that post messages to this window: a parent page, an opener, a frame.
 *
 * An agent of this package sends a MessagePort with its `initialize`. The host answers on that port,
 * and no other script of either page receives more. A plain ABP agent gets its answers where it asked, and
 * so does an agent that speaks JSON-RPC. An opaque origin, which sandboxes have, cannot be the target
 * of a message: any document that is in the window by then would receive it. Agents of such an origin
 * are served only over ports of their own.
 */
import { acceptPort } from './accept-port.js';
import { accept } from './accept.js';
import { claim } from './claim.js';
import { LEFT } from './connection.js';
import { abpError, log } from './errors.js';
import { TYPES } from './from-agent.js';
import { isJsonRpc } from './json-rpc.js';
import { onWindow } from './on-window.js';
import { MAX_NAME, isId, originOf } from './read.js';
import { toAgent } from './transfer.js';

/** How often to check whether an agent's window still exists: no event announces its end. */
const LOOK_EVERY = 500;

/** The limit for one window. A page with more agents than that gives them ports. */
const MAX_CHANNELS = 64;

/** The limit for one window. If an agent disappears without a word, its port is held until the window is gone. */
const MAX_PORTS = 1024;

/** The number of refused origins that are reported. */
const MAX_TOLD = 32;

/** @import { Messenger } from './messenger.js' */

/**
 * @typedef {object} Peer
 * @property {string} origin
 * @property {number[]} from the numbers of its origin and its window
 * @property {Map<unknown, Messenger>} plain of plain agents, by the channels of MCP-B
 * @property {Map<unknown, (reason?: string) => void>} ports by the id of the initialize that brought them
 * @property {Set<(reason?: string) => void>} closers of the plain agents
 */

/**
 * @param {import('./shell.js').Shell} shell
 * @param {{ allowedOrigins?: string[], replace?: boolean }} options `replace`: instead of another host
 * @param {() => void} stopped
 * @returns {() => void} stops serving
 */
export function acceptMessages(shell, { allowedOrigins: given = ownOrigin(), replace }, stopped) {
  const allowedOrigins = originsOf(given);
  const stop = () => {
    for (const undo of undos.splice(0)) undo();
    onHide();
    clearInterval(looking);
    stopped();
  };
  const undos = [claim(globalThis, 'window', replace, () => stop())];
  /** The refused origins that were already reported. @type {Set<string>} */
  const told = new Set();
  /** @type {Map<any, Peer>} */
  const peers = new Map();
  let windows = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let looking;

  /** @param {MessageEvent} event */
  const onMessage = (event) => {
    const { source, origin, data, ports } = event;
    const known = peers.get(source);
    // Another document in the same window is another agent; the previous agent is gone.
    if (known && known.origin !== origin) forget(source);
    // Ignores wrong origins, our own messages, and messages for somebody else.
    if (!source || !(isForUs(data) || isJsonRpc(data))) return;
    if (!allowedOrigins.includes(origin)) return tell(origin, `it is not in allowedOrigins: ${allowedOrigins}`);
    if (origin === 'null' && !(data.type === 'initialize' && ports[0])) return tell(origin, 'it needs a MessagePort');
    const peer = known?.origin === origin ? known : greet(source, origin);
    if (data.type === 'initialize' && ports[0]) {
      // The agent asked again because the answer was slow. The answer is on its way on the first port.
      const isNew = !peer.ports.has(data.id) && peer.ports.size < MAX_PORTS;
      if (isNew && (data.id === undefined || (isId(data.id) && String(data.id).length <= MAX_NAME))) adopt(ports[0], data, peer);
      return;
    }
    // An agent cannot open more channels than that.
    if (peer.plain.size >= MAX_CHANNELS && !peer.plain.has(data.channel)) return;
    const messenger = peer.plain.get(data.channel) ?? messengerOf(source, peer);
    peer.plain.set(data.channel, messenger);
    messenger.onmessage?.(data);
  };

  /**
   * Reports a refused origin: an app whose list lacks an origin would take long to find out.
   *
   * @param {string} origin
   * @param {string} why
   */
  const tell = (origin, why) => {
    if (told.has(origin) || told.size >= MAX_TOLD) return;
    told.add(origin);
    log('warn', `ignored a message from ${origin}: ${why}`);
  };

  /**
   * @param {any} source
   * @param {Peer} peer
   * @returns {Messenger} of a plain agent
   */
  const messengerOf = (source, { origin, from, closers }) => {
    const post = (/** @type {any} */ message, /** @type {Transferable[]} */ transfer) => source.postMessage(message, { targetOrigin: origin, transfer });
    /** @type {Messenger} */
    const messenger = { from, lasting: true, onmessage: undefined, onclose: undefined, post: (envelope) => toAgent(envelope, post), close() {} };
    accept(shell, messenger, (close, held) => void closers[held ? 'add' : 'delete'](close));
    return messenger;
  };

  /**
   * @param {any} source
   * @param {string} origin
   */
  const greet = (source, origin) => {
    const from = [allowedOrigins.indexOf(origin) + 1, (windows += 1)];
    const peer = { origin, from, plain: new Map(), ports: new Map(), closers: new Set() };
    peers.set(source, peer);
    looking ??= setInterval(look, LOOK_EVERY);
    return peer;
  };

  /**
   * @param {MessagePort} port
   * @param {any} initialize
   * @param {Peer} peer
   */
  const adopt = (port, initialize, peer) => {
    const { id } = initialize;
    const hold = (/** @type {(reason?: string) => void} */ close, /** @type {boolean} */ held) =>
      void (held ? peer.ports.set(id, close) : peer.ports.delete(id));
    acceptPort(shell, port, hold, { initialize, from: peer.from });
  };

  /** @param {any} source @param {string} [reason] */
  const forget = (source, reason) => {
    const peer = peers.get(source);
    peers.delete(source);
    for (const messenger of peer?.plain.values() ?? []) messenger.onclose?.(reason);
    for (const close of peer?.ports.values() ?? []) close(reason);
  };

  const look = () => {
    for (const source of peers.keys()) if (source.closed) forget(source);
    if (peers.size === 0) {
      clearInterval(looking);
      looking = undefined;
    }
  };

  /** A message was lost, and it is unknown which: the agent must start again. @param {MessageEvent} event */
  const onLost = ({ source, origin }) => {
    const peer = peers.get(source);
    if (peer?.origin !== origin) return;
    for (const messenger of peer.plain.values()) messenger.onunreadable?.();
    peer.plain.clear();
  };

  /** The user leaves the page. The page may come back, but its agents have been told that it is gone. */
  const onHide = () => {
    for (const { closers } of peers.values()) for (const close of closers) close(LEFT);
    for (const source of peers.keys()) forget(source, LEFT);
  };

  /**
   * Clients of MCP-B wait for this message. They may have asked for it before the host was there.
   *
   * @param {any} target
   * @param {string | undefined} origin
   * @param {string} channel
   */
  const announce = (target, origin, channel) => {
    if (origin === undefined || origin === 'null' || !allowedOrigins.includes(origin)) return;
    target.postMessage({ channel, type: 'mcp', direction: 'server-to-client', payload: 'mcp-server-ready' }, origin);
  };

  undos.push(onWindow('message', onMessage), onWindow('messageerror', onLost), onWindow('pagehide', onHide));
  announce(globalThis, location.origin, 'mcp-default');
  announce(parent, location.ancestorOrigins?.[0], 'mcp-iframe');
  return stop;
}

/**
 * @param {unknown} given
 * @returns {string[]} the origins as the browser writes them
 */
function originsOf(given) {
  const refuse = (/** @type {unknown} */ it) => {
    throw abpError('INVALID_PARAMS', `allowedOrigins must be an array such as ['https://app.example']: ${it} is no origin`);
  };
  return Array.isArray(given)
    ? given.map((it) => (it === 'null' ? it : (typeof it === 'string' && originOf(it)) || refuse(it)))
    : refuse(given);
}

/** An opaque origin identifies nobody: every sandbox has it. */
const ownOrigin = () => [globalThis.location.origin].filter((origin) => origin !== 'null');

/**
 * A window receives messages of all kinds. Ours are the messages of the protocol, and messages that
 * look like them but have an unknown type.
 *
 * @param {any} data
 */
function isForUs(data) {
  if (typeof data !== 'object' || data === null || typeof data.type !== 'string') return false;
  return TYPES.has(data.type) || (data.id !== undefined && 'timestamp' in data && 'payload' in data && !isFromApp(data.type));
}

/**
 * Messages of an app are not meant for a host, and are not answered: two hosts would answer each other
 * forever.
 *
 * @param {string} type
 */
function isFromApp(type) {
  return type.endsWith('-result') || ['notification', 'progress', 'elicitation/request', 'error'].includes(type);
}
