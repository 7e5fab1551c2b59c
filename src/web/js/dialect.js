/**
 * What an agent speaks, told by what it says first.
 */
import { toText } from './json.js';
import { inspect } from './inspect.js';
import { newId } from './platform.js';
import { get } from './read.js';

/** @import { Connection } from './connection.js' */

/**
 * @param {any} message
 * @returns {boolean} whether it is one of JSON-RPC, a text of one, or one in the envelope of MCP-B
 */
export const isJsonRpc = (message) =>
  typeof message === 'string'
    ? message.includes('"jsonrpc"')
    : get(Array.isArray(message) ? message[0] : message, 'jsonrpc') === '2.0' || get(message, 'direction') === 'client-to-server';

/**
 * Begins to speak JSON-RPC. A page without such agents never loads what that takes.
 *
 * @param {Connection} connection
 * @param {any} first
 * @returns {(message: any) => void} takes a message
 */
export function jsonRpc(connection, first) {
  const taking = import('./json-rpc/index.js').then(({ serve }) => serve(connection, first, { toText, inspect, newId }));
  return (message) =>
    void taking.then(
      (take) => take(message),
      ({ message: why }) => connection.send(/** @type {any} */ ({ jsonrpc: '2.0', id: get(message, 'id') ?? null, error: { code: -32603, message: why } })),
    );
}
