/**
 * Cancels of requests. `ways.js` has how each dialect cancels, and whether the request is still answered.
 * The gateway's `wire/json_rpc/cancel.rs` does the same, by the same table and vectors.
 */
import { MAX_REASON, WAYS } from './ways.js';

/**
 * Reads a notification as a cancel of one request.
 *
 * @param {string} method
 * @param {any} params
 * @returns {{ id: unknown, reason: string | undefined, answered: boolean } | undefined} undefined if
 *   it is none, or malformed: it is ignored then
 */
export function readCancel(method, params) {
  const way = WAYS.find((it) => it.method === method);
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
  const way = /** @type {typeof WAYS[number]} */ (WAYS.find((it) => it.dialect === dialect));
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
