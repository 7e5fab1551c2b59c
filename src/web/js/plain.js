/**
 * What kind of object a value is, and whether it needs a closer look before it is sent.
 */

/** The kind of an object, as the object itself reports it. @param {unknown} it */
export const kindOf = (it) => Object.prototype.toString.call(it).slice(8, -1);

/** Whether an object is cloned as an Error. A proxy of an Error reports that it is an object. @param {any} it @returns {boolean} */
export const isError = (it) => (it instanceof Error ? !/^(Object|DOMException)$/.test(kindOf(it)) : kindOf(it) === 'Error');

/** The members of an Error that are cloned. */
export const OF_ERRORS = /** @type {const} */ (['name', 'message', 'stack', 'cause', 'errors']);

/** Whether a value is a plain object as in JSON, of this realm or another. @param {object} item */
export function isPlain(item) {
  const prototype = Object.getPrototypeOf(item);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Whether an array has all its elements, and no other properties. @param {any[]} array */
export function hasOnlyElements(array) {
  const keys = Object.keys(array);
  return keys.length === array.length && (keys.length === 0 || keys[keys.length - 1] === String(keys.length - 1));
}

/** Bytes of each value in a value, without its characters: the true size is between 8 and 60. */
export const VALUE = 24;

/** The number of levels that are searched for a simple value. */
export const LEVELS = 8;
/** The number of members that are searched. */
export const MEMBERS = 200;

/** The number of members that may still come. */
let members = 0;

/**
 * Finds the values that need no closer look, as most do: small ones, made of nothing but what JSON has.
 *
 * @param {unknown} value
 * @returns {number} its approximate memory in bytes, as `measure` returns; negative if the value is not simple
 */
export function simpleBytes(value) {
  members = MEMBERS;
  return pass(value, LEVELS);
}

/** @param {unknown} value */
export const isSimple = (value) => simpleBytes(value) >= 0;

/**
 * @param {any} value
 * @param {number} levels that objects may still be nested
 * @returns {number} bytes; negative if the value is not simple
 */
function pass(value, levels) {
  switch (typeof value) {
    case 'string':
      return VALUE + value.length + 2;
    case 'object':
      return value === null ? VALUE + 1 : passObject(value, levels - 1);
    case 'function':
    case 'symbol':
    case 'bigint':
      return -1;
    default:
      return VALUE + 1;
  }
}

/**
 * @param {any} object
 * @param {number} levels
 */
function passObject(object, levels) {
  if (levels < 0) return -1;
  let bytes = VALUE + 1;
  if (Array.isArray(object)) {
    members -= object.length;
    if (members < 0 || !hasOnlyElements(object)) return -1;
    for (let at = 0; at < object.length; at += 1) {
      const more = pass(object[at], levels);
      if (more < 0) return -1;
      bytes += more;
    }
    return bytes;
  }
  if (!isPlain(object)) return -1;
  for (const key in object) {
    members -= 1;
    const more = members < 0 ? -1 : pass(object[key], levels);
    if (more < 0) return -1;
    bytes += key.length + 3 + more;
  }
  return bytes;
}
