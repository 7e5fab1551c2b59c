/**
 * Parameters as they are when a call is made, whatever their owner does with them later.
 */
import { isPlain } from './inspect.js';
import { transferables } from './transfer.js';

/** So many levels and members are copied here; what is larger `structuredClone` does faster. */
const LEVELS = 8;
const MEMBERS = 100;

/**
 * Parameters of a call that is sent a moment later.
 *
 * @param {object} params
 * @param {Transferable[]} [transfer] what is moved out of the caller's hands
 * @returns {{ params: object, transfer?: Transferable[] }}
 * @throws {DOMException} for what cannot be cloned
 */
export function snapshot(params, transfer) {
  if (transfer?.length) return structuredClone({ params, transfer }, { transfer });
  return { params: small(params) ?? structuredClone(params) };
}

/**
 * Parameters of a call within the page, which no transport copies: what has passed the schema is
 * what the handler gets. As over a transport, what can only be moved is moved.
 *
 * @param {object} params
 * @returns {object}
 * @throws {DOMException} for what cannot be cloned
 */
export const copied = (params) => small(params) ?? structuredClone(params, { transfer: transferables(params, false) });

/**
 * @param {object} params
 * @returns {object | undefined} a copy of what is small and plain; undefined for anything else
 */
function small(params) {
  const counter = { members: MEMBERS };
  const copy = isPlain(params) ? copyOf(params, LEVELS, counter) : undefined;
  return counter.members >= 0 ? copy : undefined;
}

/**
 * @param {any} object
 * @param {number} levels
 * @param {{ members: number }} left below zero once there is something that is not copied here
 * @returns {any}
 */
function copyOf(object, levels, left) {
  const copy = Array.isArray(object) ? object.slice() : { ...object };
  const keys = Object.keys(copy);
  left.members -= levels > 0 ? keys.length : Infinity;
  for (let at = 0; at < keys.length && left.members >= 0; at += 1) {
    const key = /** @type {string} */ (keys[at]);
    const value = copy[key];
    const type = typeof value;
    if (type === 'object' && value !== null) {
      if (Array.isArray(value) || isPlain(value)) copy[key] = copyOf(value, levels - 1, left);
      else left.members = -1;
    } else if (type === 'function' || type === 'symbol') left.members = -1;
  }
  return copy;
}
