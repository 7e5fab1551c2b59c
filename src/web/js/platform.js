/**
 * What Rust needs of the platform. Nothing here throws.
 */
export { abpError } from './errors.js';

/** Milliseconds that never go back. */
export const now = () => performance.now();

/** Unix milliseconds. */
export const unix = () => Date.now();

const pool = new Uint8Array(4096);
let drawn = pool.length;

/**
 * Random bytes from a pool: one draw from the platform serves many identifiers.
 *
 * @param {Uint8Array} bytes filled with random bytes fit for identifiers
 */
export function fillRandom(bytes) {
  if (drawn + bytes.length > pool.length) {
    crypto.getRandomValues(pool);
    drawn = 0;
  }
  bytes.set(pool.subarray(drawn, (drawn += bytes.length)));
}

/**
 * @param {object | null} object
 * @returns {object} its own properties in a new object, `__proto__` as a plain one among them
 */
export const copy = (object) => ({ ...object });

/** @param {unknown} value */
export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * @param {any} value
 * @param {string} path such as `options.callId`
 * @returns {any} undefined too for what cannot be read
 */
export function get(value, path) {
  try {
    for (const key of path.split('.')) value = isObject(value) ? value[key] : undefined;
    return value;
  } catch {
    return undefined;
  }
}

const SHAPES = /** @type {Record<string, number>} */ ({ undefined: 1, object: 2, string: 8, number: 16, boolean: 32 });

/**
 * What stands at a path, as the bits that Rust knows it by.
 *
 * @param {any} object
 * @param {string} path
 */
export function shape(object, path) {
  const value = get(object, path);
  if (Array.isArray(value)) return 4;
  return (value !== null && SHAPES[typeof value]) || 64;
}

/** @param {string} type */
const valueOf = (type) => (/** @type {any} */ object, /** @type {string} */ path) => {
  const value = get(object, path);
  return typeof value === type ? value : undefined;
};

export const textOf = valueOf('string');
export const numberOf = valueOf('number');
export const booleanOf = valueOf('boolean');

/**
 * @param {any} object one of our own
 * @param {string} key
 * @param {unknown} value
 */
export const put = (object, key, value) => void (object[key] = value);

/** @returns {unknown[]} */
export const array = () => [];

/**
 * @param {unknown[]} array
 * @param {unknown} element
 */
export const push = (array, element) => void array.push(element);

/**
 * The `Capability` object that agents get, of what an app says of it.
 *
 * @param {string} name
 * @param {any} options
 */
export function describe(name, options) {
  const { description = '', inputSchema = { type: 'object' }, outputSchema = {}, requirements = [], features = {} } = options;
  const available = options.available !== false;
  /** @type {Record<string, unknown>} */
  const document = { name, description, inputSchema, outputSchema, available, requirements, features };
  for (const key of ['experimental', 'deprecated', 'deprecationMessage', 'alternatives']) {
    if (options[key] !== undefined) document[key] = options[key];
  }
  return document;
}

/**
 * What is wrong with a value that is to be sent, if anything. Binary data weighs nothing here: it
 * is moved or encoded by the transport, which has a limit of its own.
 *
 * @param {unknown} value
 * @param {number} depth levels of nesting allowed
 * @param {number} size characters allowed, each property and element counted as some
 * @returns {string | undefined} the end of a sentence that begins with what the value is
 */
export function inspect(value, depth, size) {
  let left = size;
  /** @type {[unknown, number][]} */
  const stack = [[value, 0]];
  try {
    for (let entry = stack.pop(); entry; entry = stack.pop()) {
      const [item, level] = entry;
      if (typeof item === 'function' || typeof item === 'symbol') return `holds a ${typeof item}`;
      left -= typeof item === 'string' ? item.length + 2 : 1;
      if (left < 0) return `is larger than ${size} characters`;
      if (typeof item !== 'object' || item === null) continue;
      const array = Array.isArray(item);
      if (!array && !isPlain(item)) continue;
      if (level > depth) return `is cyclic, or nested more than ${depth} levels deep`;
      if (array) {
        for (const element of item) stack.push([element, level + 1]);
      } else {
        for (const [key, property] of Object.entries(item)) {
          left -= key.length + 3;
          stack.push([property, level + 1]);
        }
      }
    }
  } catch {
    return 'cannot be read';
  }
  return undefined;
}

/** @param {object} item */
export function isPlain(item) {
  const prototype = Object.getPrototypeOf(item);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * @param {AbortController} controller
 * @param {string} [reason] what the caller gave
 */
export function abortWith(controller, reason) {
  controller.abort(new DOMException(reason ?? 'The call was cancelled', 'AbortError'));
}

/** @type {(() => void)[]} */
const tasks = [];
/** @type {MessageChannel | undefined} */
let channel;

/**
 * Runs a callback in a task of its own, after what waits in the event loop. A message, because
 * nested timeouts are held back by 4 ms.
 *
 * @param {() => void} callback
 */
export function inNextTask(callback) {
  if (!channel) {
    channel = new MessageChannel();
    channel.port1.onmessage = () => tasks.shift()?.();
  }
  tasks.push(callback);
  channel.port2.postMessage(0);
}
