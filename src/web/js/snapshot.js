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
 * @param {any} params
 * @returns {any} a copy of what is small and plain; undefined for anything else
 */
export function small(params) {
  if (isPrimitive(params)) return undefined;
  const isArray = Array.isArray(params);
  if (!isArray && !isPlain(params)) return undefined;
  // Read once. Nearly all are flat.
  const read = isArray ? params : { ...params };
  if (!isArray && Object.values(read).every(isPrimitive)) return read;
  const given = { members: MEMBERS, met: [] };
  const copy = copyOf(read, LEVELS, given);
  return given.members >= 0 ? copy : undefined;
}

/** @param {unknown} value */
const isPrimitive = (value) => value === null || (typeof value !== 'object' && typeof value !== 'function' && typeof value !== 'symbol');

/** What there is still room for, and what has been copied. @typedef {{ members: number, met: unknown[] }} Given */

/**
 * @param {any} object
 * @param {number} levels
 * @param {Given} given whose members are below zero once there is something that is not copied here
 * @returns {any}
 */
function copyOf(object, levels, given) {
  const isArray = Array.isArray(object);
  // Before anything is expanded: an array of a few bytes may be very long. One that is met again
  // stays one object in a clone.
  if (levels === 0 || (isArray && object.length > given.members) || given.met.includes(object)) return giveUp(given);
  given.met.push(object);
  // What is larger is not copied in vain.
  let keys = Object.keys(object);
  given.members -= keys.length;
  // One with holes, or with more than its elements.
  if (given.members < 0 || (isArray && keys.length !== object.length)) return giveUp(given);
  /** @type {any} */
  const copy = isArray ? [] : { ...object };
  // A proxy may say others now.
  if (!isArray) keys = Object.keys(copy);
  for (let at = 0; at < keys.length && given.members >= 0; at += 1) {
    const key = /** @type {string} */ (keys[at]);
    const value = isArray ? object[at] : copy[key];
    const inner = typeof value === 'object' && value !== null ? copyInner(value, levels - 1, given) : value;
    if (typeof inner === 'function' || typeof inner === 'symbol') return giveUp(given);
    if (isArray) copy.push(inner);
    else if (inner !== value) copy[key] = inner;
  }
  return copy;
}

/**
 * @param {object} value
 * @param {number} levels
 * @param {Given} given
 */
const copyInner = (value, levels, given) => (Array.isArray(value) || isPlain(value) ? copyOf(value, levels, given) : giveUp(given));

/** @param {Given} given */
function giveUp(given) {
  given.members = -1;
}
