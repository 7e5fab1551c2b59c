/**
 * Copies of parameters at the time of a call, which later changes by their owner do not affect.
 */
import { LEVELS, MEMBERS, VALUE, hasOnlyElements, isPlain, simpleBytes } from './plain.js';
import { carry, copyOf } from './transfer.js';

/**
 * The parameters of a call that is sent a moment later.
 *
 * @param {object} params
 * @param {Transferable[]} [transfer] the objects that are moved away from the caller
 * @returns {{ params: object, transfer?: Transferable[] | undefined }}
 * @throws {DOMException} for a value that cannot be cloned
 */
export function snapshot(params, transfer = []) {
  const plain = transfer.length === 0 ? small(params) : undefined;
  return plain ? { params: plain.copy, transfer: undefined } : carry({ params, transfer }, (it) => clone(it, transfer), params, false, transfer);
}

/**
 * The parameters of a call within the page, which no transport copies: the handler gets exactly the
 * copy that passed the schema. As over a transport, objects that can only be moved are moved.
 *
 * @param {object} params
 * @returns {object}
 * @throws {DOMException} for a value that cannot be cloned
 */
export const copied = (params) => small(params)?.copy ?? cloned(params);

/** @param {any} value @returns {any} */
export const cloned = (value) => carry(value, clone);

/** @param {any} value @param {Transferable[]} transfer @returns {any} */
function clone(value, transfer) {
  if (typeof structuredClone === 'function') return structuredClone(value, { transfer });
  // Older browsers have no such function, and neither have pages that tests make, as jsdom does.
  ensureData(value, new Set());
  return copyOf(value, transfer);
}

/** @param {unknown} value @param {Set<unknown>} met @throws {TypeError} if a function or a symbol is in it */
function ensureData(value, met) {
  if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError(`A ${typeof value} cannot be cloned`);
  if (typeof value !== 'object' || value === null || met.has(value)) return;
  met.add(value);
  for (const inner of Object.values(value)) ensureData(inner, met);
}

/** The number of members that may still come. */
let members = 0;

/**
 * Copies a small and plain value, as most are, and measures the copy on the way. Each property is read once.
 *
 * @param {any} value
 * @returns {{ copy: any, bytes: number } | undefined} with its approximate memory, as `measure` returns it; undefined for
 *   any other value, which `structuredClone` copies faster
 */
export function small(value) {
  if (typeof value !== 'object' || value === null) return undefined;
  members = MEMBERS;
  const holder = [value];
  const bytes = take(holder, 0, LEVELS, []);
  return bytes < 0 ? undefined : { copy: holder[0], bytes };
}

/**
 * Puts a copy of a member in its place.
 *
 * @param {any} holder that nobody else has
 * @param {any} key
 * @param {number} levels that objects may still be nested
 * @param {object[]} met the objects that were copied
 * @returns {number} bytes; negative if the member is not small and plain
 */
function take(holder, key, levels, met) {
  const value = holder[key];
  if (typeof value !== 'object' || value === null) return simpleBytes(value);
  // A clone keeps that an object occurs twice.
  if (levels === 0 || met.includes(value)) return -1;
  met.push(value);
  let bytes = VALUE + 1;
  if (Array.isArray(value)) {
    const { length } = value;
    members -= length;
    if (members < 0 || !hasOnlyElements(value)) return -1;
    const copy = (holder[key] = Array(length));
    for (let at = 0; at < length; at += 1) {
      copy[at] = value[at];
      const more = take(copy, at, levels - 1, met);
      if (more < 0) return -1;
      bytes += more;
    }
    return bytes;
  }
  if (!isPlain(value)) return -1;
  const copy = (holder[key] = { ...value });
  // A clone leaves out what is named by a symbol. Here it would be neither copied nor counted.
  if (Object.getOwnPropertySymbols(copy).length > 0) return -1;
  for (const name of Object.keys(copy)) {
    members -= 1;
    const more = members < 0 ? -1 : take(copy, name, levels - 1, met);
    if (more < 0) return -1;
    bytes += name.length + 3 + more;
  }
  return bytes;
}
