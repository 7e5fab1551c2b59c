/**
 * Checks whether a value can be sent, and measures its size.
 */
import { LEVELS, OF_ERRORS, VALUE, hasOnlyElements, isError, isPlain, kindOf, simpleBytes } from './plain.js';

/** The reason why a value cannot be sent: the end of a sentence that begins with the value. */
class Unfit {
  /** @param {string} why */
  constructor(why) {
    this.why = why;
  }
}

/**
 * Measures a value to be sent. Counts everything that a structured clone carries, except named
 * properties of very long arrays. Nothing is expanded before it is counted: a sparse array of 2^32 - 1
 * elements is only a few bytes. Binary data does not count as characters, because the transport moves
 * or encodes it and has a limit of its own. It does count as memory.
 *
 * @param {unknown} value
 * @param {number} depth levels of nesting allowed
 * @param {number} size characters allowed, each property and element counted as some
 * @returns {number | string} its approximate memory in bytes, or the problem with it: the end of a sentence that begins
 *   with the value
 */
export function measure(value, depth, size) {
  try {
    // Most values need no closer look.
    const bytes = simpleBytes(value);
    if (bytes >= 0 && isWithin(bytes, depth, size)) return bytes;
    const left = weighAll(value, depth, size);
    return left >= 0 ? size - left + VALUE * values + binary : `is larger than ${size} characters`;
  } catch (error) {
    if (!(error instanceof Unfit)) return 'cannot be read';
    return error === TOO_DEEP ? `is cyclic, or nested more than ${depth} levels deep` : error.why;
  }
}

/** Whether a simple value is within the limits, without a closer look. @param {number} bytes its memory @param {number} depth @param {number} size */
export const isWithin = (bytes, depth, size) => bytes <= size && LEVELS <= depth;

/**
 * @param {unknown} value @param {number} depth @param {number} size
 * @returns {string | undefined} the problem with a value to be sent, if there is a problem
 */
export function inspect(value, depth, size) {
  const measured = measure(value, depth, size);
  return typeof measured === 'string' ? measured : undefined;
}

/** The number of inspected values. */
let values = 0;

/** The bytes of its binary data, and their buffers: several views may share one buffer. */
let binary = 0;
/** @type {Set<object>} */
const buffers = new Set();

/** @param {object} owner @param {number} bytes */
function hold(owner, bytes) {
  if (bytes > 0 && !buffers.has(owner)) {
    buffers.add(owner);
    binary += bytes;
  }
}

/** From this number of values on, an object that occurs again is not inspected again. */
const MANY = 2048;

/** From this number of values or characters on, the weight of an object is remembered. */
const LARGE = { values: 32, characters: 1024 };

/**
 * The weights of objects, once there are many values. Objects that contain each other twice, level by
 * level, are small on the wire, but would be millions of values if each occurrence were inspected.
 *
 * @type {Map<object, { levels: number, weight: number }>}
 */
const known = new Map();

// Annotated so that the worker's own script, which has no use for it, leaves it out.
const TOO_DEEP = /* @__PURE__ */ new Unfit('is nested too deep');

/** Does the same as `weigh`, for a value that is not part of another. @param {unknown} value @param {number} levels @param {number} left */
function weighAll(value, levels, left) {
  values = 0;
  binary = 0;
  asked = 0;
  try {
    return weigh(value, levels, left);
  } finally {
    known.clear();
    buffers.clear();
  }
}

/**
 * @param {unknown} value
 * @param {number} levels that objects may still be nested
 * @param {number} left characters
 * @returns {number} the number of characters that are left; negative if there were too few
 */
function weigh(value, levels, left) {
  values += 1;
  switch (typeof value) {
    case 'string':
      return left - value.length - 2;
    case 'object':
      return value === null ? left - 1 : weighObject(value, levels, left - 1);
    case 'function':
    case 'symbol':
      throw new Unfit(`holds a ${typeof value}`);
    case 'bigint':
      return left - digitsOf(value, left);
    default:
      return left - 1;
  }
}

/**
 * @param {any} object
 * @param {number} levels
 * @param {number} left
 */
function weighObject(object, levels, left) {
  if (levels === 0) throw TOO_DEEP;
  if (values <= MANY) return weighInside(object, levels, left);
  const before = known.get(object);
  // An earlier inspection has shown that its nesting is within the levels allowed here.
  if (before !== undefined && before.levels <= levels) return left - before.weight;
  const at = values;
  const rest = weighInside(object, levels, left);
  const isLarge = values - at >= LARGE.values || left - rest >= LARGE.characters;
  if (rest >= 0 && isLarge) known.set(object, { levels, weight: left - rest });
  return rest;
}

/**
 * @param {any} object
 * @param {number} levels
 * @param {number} left
 */
function weighInside(object, levels, left) {
  if (Array.isArray(object)) return weighArray(object, levels - 1, left);
  if (isPlain(object)) return weighProperties(object, Object.keys(object), levels - 1, left);
  if (!ArrayBuffer.isView(object)) return weighOther(object, levels - 1, left);
  // A view is cloned with its whole buffer.
  hold(object.buffer, object.buffer.byteLength);
  return left;
}

/**
 * @param {any} object
 * @param {readonly string[]} keys
 * @param {number} levels
 * @param {number} left
 */
function weighProperties(object, keys, levels, left) {
  for (let at = 0; at < keys.length && left >= 0; at += 1) {
    const key = /** @type {string} */ (keys[at]);
    left = weigh(object[key], levels, left - key.length - 3);
  }
  return left;
}

/**
 * @param {any[]} array
 * @param {number} levels
 * @param {number} left
 */
function weighArray(array, levels, left) {
  const { length } = array;
  if (length <= left && isWhole(array)) {
    for (let at = 0; at < length && left >= 0; at += 1) left = weigh(array[at], levels, left);
    return left;
  }
  return length <= left ? weighProperties(array, Object.keys(array), levels, left - length) : -1;
}

/**
 * An object that is neither an array nor a plain object of JSON.
 *
 * @param {any} object
 * @param {number} levels
 * @param {number} left
 */
function weighOther(object, levels, left) {
  const kind = kindOf(object);
  if (kind === 'Map') {
    Map.prototype.forEach.call(object, (value, key) => {
      if (left >= 0) left = weigh(value, levels, weigh(key, levels, left));
    });
  } else if (kind === 'Set') {
    Set.prototype.forEach.call(object, (value) => {
      if (left >= 0) left = weigh(value, levels, left);
    });
  } else if (kind === 'DOMException' || isError(object)) left = weighProperties(object, OF_ERRORS, levels, left);
  else if (kind === 'RegExp') left = weigh(object.source, levels, left);
  else if (kind === 'String' || kind === 'BigInt') return weigh(object.valueOf(), levels, left);
  else if (kind.endsWith('Buffer')) hold(object, object.byteLength);
  else if (kind.startsWith('Image')) hold(object, 4 * object.width * object.height);
  // The clone of an object of a class of the app is a plain object, whatever the class calls its kind.
  return weighProperties(object, Object.keys(object), levels, left);
}

/** For arrays up to this length, listing the keys costs little. */
const SHORT = 1024;

/**
 * The number of elements of longer arrays whose keys are listed in one value. That takes a twentieth of
 * a second, a hundred times as long as reading the elements. Few values with more elements are within
 * the limit of what may be in flight.
 */
const LONG = 2 ** 19;

/** The number of elements whose keys were listed. */
let asked = 0;

/**
 * Whether an array has all its elements, and no other properties. In a very long array, only one random
 * position is checked, which finds arrays that consist mostly of holes. Its other properties are never
 * visited.
 *
 * @param {any[]} array
 */
function isWhole(array) {
  const { length } = array;
  if (length > SHORT && (asked += length) > LONG) return Math.floor(Math.random() * length) in array;
  return hasOnlyElements(array);
}

/**
 * About the number of digits of a number, or more than are left: writing the number out would take
 * longer.
 *
 * @param {bigint} number
 * @param {number} left
 */
function digitsOf(number, left) {
  let bits = 64;
  while (bits <= 4 * left && BigInt.asIntN(bits, number) !== number) bits *= 2;
  return bits / 4;
}
