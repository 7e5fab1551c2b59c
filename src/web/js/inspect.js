/**
 * Whether a value can be sent, and how much it is.
 */

/** Why a value cannot be sent: the end of a sentence that begins with what it is. */
class Unfit {
  /** @param {string} why */
  constructor(why) {
    this.why = why;
  }
}

/**
 * What is wrong with a value that is to be sent, if anything. Everything that a structured clone
 * carries is counted, except named properties of very long arrays. Nothing is
 * expanded before it is counted: a sparse array of 2^32 - 1 elements is a few bytes. Binary data is
 * not counted as characters: the transport moves or encodes it, and has a limit of its own. It takes
 * memory all the same.
 *
 * @param {unknown} value
 * @param {number} depth levels of nesting allowed
 * @param {number} size characters allowed, each property and element counted as some
 * @returns {string | undefined} the end of a sentence that begins with what the value is
 */
export function inspect(value, depth, size) {
  values = 0;
  binary = 0;
  asked = 0;
  try {
    const left = weigh(value, depth, size);
    memory = size - left + VALUE * values + binary;
    if (left >= 0) return undefined;
    return `is larger than ${size} characters`;
  } catch (error) {
    if (!(error instanceof Unfit)) return 'cannot be read';
    return error === TOO_DEEP ? `is cyclic, or nested more than ${depth} levels deep` : error.why;
  } finally {
    known.clear();
    buffers.clear();
  }
}

/** About as many bytes as the value takes that was inspected last. */
export let memory = 0;

/** Bytes of each value in it, its characters aside: between 8 and 60. */
const VALUE = 24;

/** Values that were looked at. */
let values = 0;

/** Bytes of the binary data in it, and whose they are: several views have one buffer. */
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

/** Of so many values an object that is found again is not looked through again. */
const MANY = 2048;

/** An object with so many values in it, or so many characters, is worth to remember. */
const LARGE = { values: 32, characters: 1024 };

/**
 * What objects weigh, once there are many values. A few that hold each other twice, level by level,
 * are few bytes on the wire, and millions when each is looked through wherever it stands.
 *
 * @type {Map<object, { levels: number, weight: number }>}
 */
const known = new Map();

// Annotated for the worker's own script, which has no use for it.
const TOO_DEEP = /* @__PURE__ */ new Unfit('is nested too deep');

/**
 * @param {unknown} value
 * @param {number} levels that objects may still be nested
 * @param {number} left characters
 * @returns {number} what is left of them then; negative if they were too few
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
  // It has been seen to be nested no deeper than is allowed here.
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
  // The whole buffer is cloned with a view.
  hold(object.buffer, object.buffer.byteLength);
  return left;
}

/**
 * @param {any} object
 * @param {string[]} keys
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
 * What neither is an array nor looks like an object of JSON.
 *
 * @param {any} object
 * @param {number} levels
 * @param {number} left
 */
function weighOther(object, levels, left) {
  const kind = Object.prototype.toString.call(object).slice(8, -1);
  if (kind === 'Map') {
    Map.prototype.forEach.call(object, (value, key) => {
      if (left >= 0) left = weigh(value, levels, weigh(key, levels, left));
    });
  } else if (kind === 'Set') {
    Set.prototype.forEach.call(object, (value) => {
      if (left >= 0) left = weigh(value, levels, left);
    });
  } else if (kind === 'Error' || kind === 'DOMException') return weighProperties(object, OF_ERRORS, levels, left);
  else if (kind === 'RegExp') return weigh(object.source, levels, left);
  else if (kind === 'String' || kind === 'BigInt') return weigh(object.valueOf(), levels, left);
  else if (kind.endsWith('Buffer')) hold(object, object.byteLength);
  else if (kind.startsWith('Image')) hold(object, 4 * object.width * object.height);
  // Of a class of the app's: a clone is a plain object.
  else if (kind === 'Object') return weighProperties(object, Object.keys(object), levels, left);
  return left;
}

const OF_ERRORS = ['name', 'message', 'stack', 'cause', 'errors'];

/** Up to so many elements it costs little to ask for the keys. */
const SHORT = 1024;

/**
 * So many elements of longer arrays are asked for their keys in one value, which takes a twentieth of
 * a second, a hundred times as long as to look at them. Of values with more elements few are within
 * what may be in flight.
 */
const LONG = 2 ** 19;

/** How many were. */
let asked = 0;

/**
 * Whether an array has all its elements, and no other properties. A very long array is only tried at one
 * random place, which finds arrays that are nearly all holes. Its other properties are never visited.
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
 * About as many digits as a number has, or more than are left: writing it out would take longer.
 *
 * @param {bigint} number
 * @param {number} left
 */
function digitsOf(number, left) {
  let bits = 64;
  while (bits <= 4 * left && BigInt.asIntN(bits, number) !== number) bits *= 2;
  return bits / 4;
}

/** Whether it is an object as JSON has it, of this realm or another. @param {object} item */
export function isPlain(item) {
  const prototype = Object.getPrototypeOf(item);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** So many levels and members are looked through for what is simple. */
const LEVELS = 8;
const MEMBERS = 200;

/**
 * Whether a value is small, and made of nothing but what JSON has: most data is, and needs no closer
 * look.
 *
 * @param {unknown} value
 */
export const isSimple = (value) => pass(value, LEVELS, MEMBERS) >= 0;

/**
 * @param {any} value
 * @param {number} levels that objects may still be nested
 * @param {number} left members that may still come
 * @returns {number} what is left of them then; negative for what is not simple
 */
function pass(value, levels, left) {
  if (typeof value !== 'object' || value === null) return typeof value === 'function' || typeof value === 'symbol' ? -1 : left;
  if (levels === 0) return -1;
  if (Array.isArray(value)) {
    left -= value.length;
    for (let at = 0; at < value.length && left >= 0; at += 1) left = pass(value[at], levels - 1, left);
    return left;
  }
  if (!isPlain(value)) return -1;
  for (const key in value) {
    left = pass(value[key], levels - 1, left - 1);
    if (left < 0) break;
  }
  return left;
}
