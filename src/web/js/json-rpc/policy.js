/**
 * How each dialect cancels a request, and who is told about that. This is the only place with these
 * rules. The same table is in `gateway/src/wire/json_rpc/cancel.rs`, and both are tested with the same
 * vectors.
 */

/**
 * @typedef {object} Way
 * @property {string} dialect
 * @property {string} method of the notification that cancels
 * @property {'id' | 'requestId'} id the member of its parameters with the request's id
 * @property {boolean} reason whether the parameters may have a reason
 * @property {boolean} answered whether the cancelled request is still answered: with its result, or with error -32800
 * @property {'on the answer' | 'at once'} settles when the caller considers the request settled
 */

/** The dialects. Those that share a method share everything else. @type {Way[]} */
export const DIALECTS = [
  { dialect: 'ACP draft', method: '$/cancelRequest', id: 'id', reason: false, answered: true, settles: 'on the answer' },
  { dialect: 'ACP v1', method: '$/cancel_request', id: 'requestId', reason: false, answered: true, settles: 'on the answer' },
  { dialect: 'LSP 3.17', method: '$/cancelRequest', id: 'id', reason: false, answered: true, settles: 'on the answer' },
  { dialect: 'MCP 2025-11-25', method: 'notifications/cancelled', id: 'requestId', reason: true, answered: false, settles: 'at once' },
  { dialect: 'MCP 2026-07-28', method: 'notifications/cancelled', id: 'requestId', reason: true, answered: false, settles: 'at once' },
];

const MAX_REASON = 1_024;

/**
 * Reads a notification as a cancel of one request.
 *
 * @param {string} method
 * @param {any} params
 * @returns {{ id: unknown, reason: string | undefined, answered: boolean } | undefined} undefined if
 *   it is none, or malformed: it is ignored then
 */
export function readCancel(method, params) {
  const way = DIALECTS.find((it) => it.method === method);
  if (!way || keyOf(params?.[way.id]) === undefined) return undefined;
  const reason = way.reason && typeof params.reason === 'string' ? params.reason.slice(0, MAX_REASON) : undefined;
  return { id: params[way.id], reason, answered: way.answered };
}

/**
 * The parameters of the notification that cancels a request of ours.
 *
 * @param {string} dialect
 * @param {unknown} id
 * @param {string} reason
 */
export function writeCancel(dialect, id, reason) {
  const way = /** @type {Way} */ (DIALECTS.find((it) => it.dialect === dialect));
  return { method: way.method, params: { [way.id]: id, ...(way.reason && { reason }) } };
}

/**
 * A key that equal ids share: `1` and `1.0` are equal, `1` and `"1"` are not. `0`, `""` and `null` are
 * ordinary ids.
 *
 * @param {unknown} id
 * @returns {string | undefined} undefined if it cannot be an id
 */
export function keyOf(id) {
  if (id === null || typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id))) return `${typeof id} ${id}`;
  return undefined;
}
