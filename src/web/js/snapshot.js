/**
 * Copies of parameters at the time of a call, which later changes by their owner do not affect.
 */
import { isPlain, isSimple } from './plain.js';
import { carry, copyOf } from './transfer.js';

/**
 * The parameters of a call that is sent a moment later.
 *
 * @param {object} params
 * @param {Transferable[]} [transfer] the objects that are moved away from the caller
 * @returns {{ params: object, transfer?: Transferable[] }}
 * @throws {DOMException} for a value that cannot be cloned
 */
export function snapshot(params, transfer = []) {
  const plain = transfer.length === 0 && small(params);
  return plain ? { params: plain } : carry({ params, transfer }, (it) => structuredClone(it, { transfer }), params, false, transfer);
}

/**
 * The parameters of a call within the page, which no transport copies: the handler gets exactly the
 * copy that passed the schema. As over a transport, objects that can only be moved are moved.
 *
 * @param {object} params
 * @returns {object}
 * @throws {DOMException} for a value that cannot be cloned
 */
export const copied = (params) => small(params) ?? cloned(params);

/** @param {any} value @returns {any} */
export const cloned = (value) => carry(value, (it, transfer) => structuredClone(it, { transfer }));

/**
 * @param {any} value
 * @returns {any} a copy of a small and plain value; undefined for any other value, which `structuredClone` copies faster
 */
export function small(value) {
  if (isPrimitive(value)) return undefined;
  // Nearly all parameters are flat.
  if (isPlain(value) && Object.values(value).every(isPrimitive)) return { ...value };
  return isSimple(value) ? copyOf(value) : undefined;
}

/** @param {unknown} value */
const isPrimitive = (value) => value === null || (typeof value !== 'object' && typeof value !== 'function' && typeof value !== 'symbol');
