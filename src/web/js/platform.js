/**
 * What Rust needs of the platform. Nothing here throws.
 */

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
 * @param {object} object
 * @returns {object} its own properties in a new object, `__proto__` as a plain one among them
 */
export const copy = (object) => ({ ...object });

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
function isPlain(item) {
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
