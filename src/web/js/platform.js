/**
 * What Rust needs of the platform. Nothing here throws.
 */

/** Milliseconds that never go back. */
export const now = () => performance.now();

const pool = new Uint8Array(4096);
let drawn = pool.length;

/** @returns {string} a UUID (version 4), made from a pool: one draw from the platform serves many */
export function newId() {
  if (drawn === pool.length) {
    crypto.getRandomValues(pool);
    drawn = 0;
  }
  const bytes = pool.subarray(drawn, (drawn += 16));
  bytes[6] = ((bytes[6] ?? 0) & 15) | 64;
  bytes[8] = ((bytes[8] ?? 0) & 63) | 128;
  let id = '';
  for (const byte of bytes) id += (byte + 256).toString(16).slice(1);
  return id.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** @returns {unknown[]} */
export const array = () => [];

/**
 * @param {unknown[]} array
 * @param {unknown} element
 */
export const push = (array, element) => void array.push(element);

/**
 * What is held and what was counted.
 *
 * @param {number} inFlight
 * @param {number} sessions
 * @param {number} elicitations
 * @param {number} tasks
 * @param {number} calls
 * @param {number} cancelled
 * @param {number} lateResults
 * @param {number} lateProgress
 */
export const stats = (inFlight, sessions, elicitations, tasks, calls, cancelled, lateResults, lateProgress) =>
  ({ inFlight, sessions, elicitations, tasks, calls, cancelled, lateResults, lateProgress });

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
