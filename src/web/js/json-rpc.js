/**
 * Agents that speak JSON-RPC. A page without such agents never loads the code for them.
 */
import { problem, report, text } from './errors.js';
import { inspect } from './inspect.js';
import { fromText, toText } from './json.js';
import { loadPart } from './part.js';
import { get, isId } from './read.js';
import { copied } from './snapshot.js';

/** @import { Connection, Envelope } from './connection.js' */

/** The functions that the loaded code is given. */
const KIT = { toText, inspect, problem };

/**
 * The first message shows which dialect an agent speaks.
 *
 * @param {any} message
 * @returns {boolean} whether it is a message of JSON-RPC: an object, a text, or in the envelope of MCP-B
 */
export function isJsonRpc(message) {
  if (typeof message === 'string') return message.includes('"jsonrpc"');
  try {
    return get(Array.isArray(message) ? message[0] : message, 'jsonrpc') === '2.0' || get(message, 'direction') === 'client-to-server';
  } catch {
    return false;
  }
}

/** Stands between a connection, which has envelopes, and its messenger. */
export class JsonRpc {
  #connection;
  #first;
  /** @type {import('./json-rpc/peer.js').Peer | undefined} */
  #peer;
  /** @type {Promise<import('./json-rpc/peer.js').Peer> | undefined} */
  #loading;

  /** @param {Connection} connection @param {any} first the agent's first message */
  constructor(connection, first) {
    this.#connection = connection;
    this.#first = first;
  }

  /** @param {any} message the agent's. Messages that wait for the code are received one after the other in one job */
  receive(message) {
    if (this.#connection.local && typeof message === 'object') {
      try {
        message = copied(message);
      } catch (error) {
        return report(() => /** @type {any} */ (this.#connection.messenger).post({ jsonrpc: '2.0', id: null, error: { code: -32600, message: `The message cannot be read: ${text(error)}` } }));
      }
    }
    this.#loading ??= loadPart(() => import('./json-rpc/peer.js')).then(({ Peer }) => (this.#peer = new Peer(this.#connection, this.#first, KIT)));
    this.#loading.then(
      // The transport may throw.
      (peer) => report(() => peer.receive(message)),
      ({ message: why }) => {
        // The next message tries again.
        this.#loading = undefined;
        report(() => refuseAll(this.#connection.messenger, message, why));
      },
    );
    return undefined;
  }

  /** @param {any} envelope the host's */
  post(envelope) {
    (this.#peer ?? this.#connection.messenger).post(envelope);
  }
}

/**
 * Answers the requests of a message while the code cannot be loaded. The answers are like those of that
 * code: each under its own id, and wrapped like the message.
 *
 * @param {{ post: (message: any) => unknown }} messenger
 * @param {any} given
 * @param {string} message
 */
function refuseAll(messenger, given, message) {
  const wrapped = get(given, 'direction') && given;
  const inner = wrapped ? wrapped.payload : given;
  const said = typeof inner === 'string' ? fromText(inner) : inner;
  const refuse = (/** @type {any} */ it) => isId(get(it, 'id')) && get(it, 'method') !== undefined ? [{ jsonrpc: '2.0', id: it.id, error: { code: -32603, message } }] : [];
  const answers = Array.isArray(said) ? said.flatMap(refuse) : refuse(said);
  if (answers.length === 0) return;
  const answer = Array.isArray(said) ? answers : answers[0];
  if (wrapped) messenger.post({ channel: wrapped.channel, type: 'mcp', direction: 'server-to-client', payload: answer });
  else messenger.post(typeof given === 'string' ? toText(answer) : answer);
}
