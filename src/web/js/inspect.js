/**
 * Checks whether a value can be sent, and measures its size.
 */

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
    if (bytes >= 0 && bytes <= size && LEVELS <= depth) return bytes;
    const left = weighAll(value, depth, size);
    return left >= 0 ? size - left + VALUE * values + binary : `is larger than ${size} characters`;
  } catch (error) {
    if (!(error instanceof Unfit)) return 'cannot be read';
    return error === TOO_DEEP ? `is cyclic, or nested more than ${depth} levels deep` : error.why;
  }
}

/**
 * @param {unknown} value @param {number} depth @param {number} size
 * @returns {string | undefined} the problem with a value to be sent, if there is a problem
 */
export function inspect(value, depth, size) {
  const measured = measure(value, depth, size);
  return typeof measured === 'string' ? measured : undefined;
}

/** Bytes of each value in it, without its characters: the true size is between 8 and 60. */
const VALUE = 24;

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

/** The kind of an object, as the object itself reports it. @param {unknown} it */
export const kindOf = (it) => Object.prototype.toString.call(it).slice(8, -1);

/** Whether an object is cloned as an Error. A proxy of an Error reports that it is an object. @param {any} it @returns {boolean} */
export const isError = (it) => (it instanceof Error ? !/^(Object|DOMException)$/.test(kindOf(it)) : kindOf(it) === 'Error');

/** The members of an Error that are cloned. */
export const OF_ERRORS = /** @type {const} */ (['name', 'message', 'stack', 'cause', 'errors']);

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
  const keys = Object.keys(array);
  return keys.length === length && (length === 0 || keys[length - 1] === String(length - 1));
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

/** Whether a value is a plain object as in JSON, of this realm or another. @param {object} item */
export function isPlain(item) {
  const prototype = Object.getPrototypeOf(item);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The number of levels that are searched for a simple value. */
const LEVELS = 8;
/** The number of members that are searched. */
const MEMBERS = 200;

/** The number of members that may still come. */
let members = 0;

/**
 * Finds the values that need no closer look, as most do: small ones, made of nothing but what JSON has.
 *
 * @param {unknown} value
 * @returns {number} its approximate memory in bytes, as `measure` returns; negative if the value is not simple
 */
function simpleBytes(value) {
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
    if (members < 0 || !isWhole(object)) return -1;
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
