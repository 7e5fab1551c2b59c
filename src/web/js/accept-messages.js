/**
 * Agents that post messages to this window: a parent page, an opener, a frame.
 *
 * An agent of ours offers a MessagePort with its `initialize`; it is answered there, and no other
 * script of either page hears more. A plain ABP agent is answered where it asked, and so is one that
 * speaks JSON-RPC.
 */
import { acceptPort } from './accept-port.js';
import { Connection, UNREADABLE, isJsonRpc } from './connection.js';
import { abpError } from './errors.js';
import { TYPES } from './from-agent.js';
import { transferables } from './transfer.js';

/** How often to look whether an agent's window is still there: nothing announces its end. */
const LOOK_EVERY = 500;

/** Of one window; a page with more agents than that gives them ports. */
const MAX_CHANNELS = 64;

/**
 * @typedef {object} Peer
 * @property {string} origin
 * @property {Map<unknown, Connection>} connections of plain agents, by the channels of MCP-B
 * @property {Map<unknown, () => void>} ports by the id of the initialize that brought them
 */

/**
 * @param {import('./shell.js').Shell} shell
 * @param {{ allowedOrigins?: string[] }} options
 * @returns {() => void} stops it
 */
export function acceptMessages(shell, { allowedOrigins = ownOrigin() }) {
  if (!Array.isArray(allowedOrigins) || !allowedOrigins.every((it) => typeof it === 'string')) {
    throw abpError('INVALID_PARAMS', 'allowedOrigins is an array of origins');
  }
  /** @type {Map<any, Peer>} */
  const peers = new Map();
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let looking;

  /** @param {MessageEvent} event */
  const onMessage = (event) => {
    const { source, origin, data, ports } = event;
    const known = peers.get(source);
    // Another document in the same window is another agent, and the one before is gone.
    if (known && known.origin !== origin) forget(source);
    // Silence for a wrong origin, for ourselves, and for what is not meant for us.
    if (!allowedOrigins.includes(origin) || !source || !(isForUs(data) || isJsonRpc(data))) return;
    const peer = known?.origin === origin ? known : greet(source, origin);
    if (data.type === 'initialize' && ports[0]) {
      // Asked again because the answer was slow: it is on its way on the first port.
      if (!peer.ports.has(data.id)) adopt(ports[0], data, peer);
      return;
    }
    // An agent that invents more channels than that is not heard on them.
    if (peer.connections.size >= MAX_CHANNELS && !peer.connections.has(data.channel)) return;
    const connection = peer.connections.get(data.channel) ?? connect(source, origin);
    peer.connections.set(data.channel, connection);
    connection.hear(data);
  };

  /**
   * @param {any} source
   * @param {string} origin
   */
  const connect = (source, origin) => {
    const connection = new Connection(shell, (envelope) => {
      const transfer = transferables(envelope.payload, connection.wantsTransfer(envelope));
      source.postMessage(envelope, { targetOrigin: nameOf(origin), transfer });
    });
    return connection;
  };

  /**
   * @param {any} source
   * @param {string} origin
   */
  const greet = (source, origin) => {
    const peer = { origin, connections: new Map(), ports: new Map() };
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
    const hold = (/** @type {() => void} */ close, /** @type {boolean} */ held) =>
      void (held ? peer.ports.set(id, close) : peer.ports.delete(id));
    acceptPort(shell, port, hold, initialize);
  };

  /** @param {any} source */
  const forget = (source) => {
    const peer = peers.get(source);
    peers.delete(source);
    for (const connection of peer?.connections.values() ?? []) connection.close();
    for (const close of peer?.ports.values() ?? []) close();
  };

  const look = () => {
    for (const source of peers.keys()) if (source.closed) forget(source);
    if (peers.size === 0) {
      clearInterval(looking);
      looking = undefined;
    }
  };

  /** A message was lost, and nobody can tell which: the agent has to begin anew. @param {MessageEvent} event */
  const onLost = ({ source, origin }) => {
    const peer = peers.get(source);
    if (peer?.origin !== origin) return;
    for (const connection of peer.connections.values()) {
      connection.giveUp(UNREADABLE);
      connection.leave();
      connection.close();
    }
    peer.connections.clear();
  };

  /** The page is left. It may come back, but its agents have been told that it is gone. */
  const onHide = () => {
    for (const { connections } of peers.values()) {
      for (const connection of connections.values()) connection.leave();
    }
    for (const source of [...peers.keys()]) forget(source);
  };

  /**
   * Clients of MCP-B wait for this, which they may have asked for before there was anybody to say it.
   *
   * @param {any} target
   * @param {string | undefined} origin
   * @param {string} channel
   */
  const announce = (target, origin, channel) => {
    if (!allowedOrigins.includes(/** @type {string} */ (origin))) return;
    target.postMessage({ channel, type: 'mcp', direction: 'server-to-client', payload: 'mcp-server-ready' }, nameOf(origin));
  };

  addEventListener('message', onMessage);
  addEventListener('messageerror', onLost);
  addEventListener('pagehide', onHide);
  announce(globalThis, location.origin, 'mcp-default');
  announce(parent, location.ancestorOrigins?.[0], 'mcp-iframe');
  return () => {
    removeEventListener('message', onMessage);
    removeEventListener('messageerror', onLost);
    removeEventListener('pagehide', onHide);
    onHide();
    clearInterval(looking);
  };
}

/** An opaque origin has no name to post to. @param {any} origin */
const nameOf = (origin) => (origin === 'null' ? '*' : origin);

/** An opaque origin names nobody: every sandbox has it. */
const ownOrigin = () => [globalThis.location.origin].filter((origin) => origin !== 'null');

/**
 * A window hears all sorts of things. Ours are the messages of the protocol, and what looks like
 * one of a type that is not.
 *
 * @param {any} data
 */
function isForUs(data) {
  if (typeof data !== 'object' || data === null || typeof data.type !== 'string') return false;
  return TYPES.has(data.type) || (data.id !== undefined && 'timestamp' in data && 'payload' in data && !isFromApp(data.type));
}

/**
 * What an app says is no message to a host, and is not answered: two hosts would go on for ever.
 *
 * @param {string} type
 */
function isFromApp(type) {
  return type.endsWith('-result') || ['notification', 'progress', 'elicitation/request', 'error'].includes(type);
}
