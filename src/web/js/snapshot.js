/**
 * Parameters as they are when a call is made, whatever their owner does with them later.
 */
import { isPlain, isSimple } from './inspect.js';
import { carry, copyOf } from './transfer.js';

/**
 * Parameters of a call that is sent a moment later.
 *
 * @param {object} params
 * @param {Transferable[]} [transfer] what is moved out of the caller's hands
 * @returns {{ params: object, transfer?: Transferable[] }}
 * @throws {DOMException} for what cannot be cloned
 */
export function snapshot(params, transfer = []) {
  const plain = transfer.length === 0 && small(params);
  return plain ? { params: plain } : carry({ params, transfer }, (it) => structuredClone(it, { transfer }), params, false, transfer);
}

/**
 * Parameters of a call within the page, which no transport copies: what has passed the schema is
 * what the handler gets. As over a transport, what can only be moved is moved.
 *
 * @param {object} params
 * @returns {object}
 * @throws {DOMException} for what cannot be cloned
 */
export const copied = (params) => small(params) ?? cloned(params);

/** @param {any} value @returns {any} */
export const cloned = (value) => carry(value, (it, transfer) => structuredClone(it, { transfer }));

/**
 * @param {any} value
 * @returns {any} a copy of what is small and plain; undefined for anything else, which `structuredClone` copies faster
 */
export function small(value) {
  if (isPrimitive(value)) return undefined;
  // Nearly all are flat.
  if (isPlain(value) && Object.values(value).every(isPrimitive)) return { ...value };
  return isSimple(value) ? copyOf(value) : undefined;
}

/** @param {unknown} value */
const isPrimitive = (value) => value === null || (typeof value !== 'object' && typeof value !== 'function' && typeof value !== 'symbol');
