/**
 * Whether a value can be sent, and how much it is.
 */

/**
 * What is wrong with a value that is to be sent, if anything. The limits hold for whatever a
 * structured clone carries, and nothing is expanded before it is counted: a sparse array of
 * 2^32 - 1 elements is a few bytes. Binary data weighs nothing here: it is moved or encoded by the
 * transport, which has a limit of its own.
 *
 * @param {unknown} value
 * @param {number} depth levels of nesting allowed
 * @param {number} size characters allowed, each property and element counted as some
 * @returns {string | undefined} the end of a sentence that begins with what the value is
 */
export function inspect(value, depth, size) {
  let left = size;
  let level = 0;
  /** @type {string | undefined} */
  let wrong;
  /** Objects that are still to be looked into, each followed by its level. @type {any[]} */
  const stack = [];

  /** @param {unknown} item */
  const count = (item) => {
    const type = typeof item;
    if (type === 'string') left -= /** @type {string} */ (item).length + 2;
    else if (type === 'function' || type === 'symbol') wrong = `holds a ${type}`;
    else left -= type === 'bigint' ? digitsOf(/** @type {bigint} */ (item), left) : 1;
    if (type === 'object' && item !== null) stack.push(item, level);
  };

  /** @param {any} item @param {string[]} keys */
  const countProperties = (item, keys) => {
    for (const key of keys) {
      left -= key.length + 3;
      count(item[key]);
    }
  };

  try {
    count(value);
    while (stack.length > 0 && !wrong && left >= 0) {
      level = stack.pop() + 1;
      const item = stack.pop();
      if (Array.isArray(item)) {
        const { length } = item;
        if (length <= left && isWhole(item)) for (let at = 0; at < length; at += 1) count(item[at]);
        else if ((left -= length) >= 0) countProperties(item, Object.keys(item));
      } else if (isPlain(item)) countProperties(item, Object.keys(item));
      else if (ArrayBuffer.isView(item)) continue;
      else lookInto(item, count, countProperties);
      if (level > depth + 1) wrong = `is cyclic, or nested more than ${depth} levels deep`;
    }
  } catch {
    return 'cannot be read';
  }
  return wrong ?? (left < 0 ? `is larger than ${size} characters` : undefined);
}

/**
 * What neither is an array nor looks like an object of JSON.
 *
 * @param {any} item
 * @param {(inner: unknown) => void} count
 * @param {(item: any, keys: string[]) => void} countProperties
 */
function lookInto(item, count, countProperties) {
  const kind = Object.prototype.toString.call(item).slice(8, -1);
  if (kind === 'Map') {
    Map.prototype.forEach.call(item, (value, key) => {
      count(key);
      count(value);
    });
  } else if (kind === 'Set') Set.prototype.forEach.call(item, count);
  else if (kind === 'Error' || kind === 'DOMException') countProperties(item, ['name', 'message', 'stack', 'cause', 'errors']);
  else if (kind === 'RegExp') count(item.source);
  else if (kind === 'String' || kind === 'BigInt') count(item.valueOf());
  // Of a class of the app's: a clone is a plain object.
  else if (kind === 'Object') countProperties(item, Object.keys(item));
}

/** Up to so many elements it costs little to ask for the keys. */
const SHORT = 1024;

/**
 * Whether an array has all its elements, and nothing beside them. A long one is tried at one
 * place: it is looked for arrays that are nearly all holes, and what else there may be in a long
 * one nobody here ever visits.
 *
 * @param {any[]} array
 */
function isWhole(array) {
  const { length } = array;
  if (length > SHORT) return Math.floor(Math.random() * length) in array;
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

/** @param {object} item */
export function isPlain(item) {
  const prototype = Object.getPrototypeOf(item);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
