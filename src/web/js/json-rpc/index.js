/**
 * An agent that speaks JSON-RPC 2.0, be it MCP, ACP or after the manner of LSP. Its messages become
 * those of ABP on the connection they came by, so that every rule of a call holds for it.
 *
 * Loaded when the first such agent comes. What it shares with the rest is handed in: what it would
 * import from there, a bundler would take apart for all.
 *
 * | module | what it knows |
 * |---|---|
 * | `policy` | how each dialect cancels, and whether the cancelled request is answered |
 * | `message` | messages, errors, ids |
 * | `framing` | objects, text, and the envelope of MCP-B |
 * | `peer` | one agent: its requests in flight, and those of ours |
 * | `own` | ACP and LSP style, and our own methods |
 * | `mcp`, `tools`, `schema`, `result`, `content` | MCP |
 */
import { framing } from './framing.js';
import { Peer } from './peer.js';

/**
 * @typedef {object} Kit
 * @property {(value: any) => string} toText JSON, with binary data in base64
 * @property {(value: unknown, depth: number, size: number) => string | undefined} inspect
 * @property {() => string} newId
 */

/**
 * Serves an agent. From now on the connection sends JSON-RPC.
 *
 * @param {import('../connection.js').Connection} connection
 * @param {unknown} first its first message, which is to be taken like any other
 * @param {Kit} kit
 * @returns {(raw: unknown) => void} takes a message
 */
export function serve(connection, first, kit) {
  const peer = new Peer(connection, framing(first, connection.send, kit.toText), kit);
  connection.send = (envelope) => peer.tell(envelope);
  return (raw) => peer.take(raw);
}
