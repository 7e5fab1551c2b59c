/**
 * What is moved with a message rather than copied.
 */
import { isPlain, isSimple } from './inspect.js';

/** Copied unless the caller asks for them to be moved. */
const MOVABLE = ['ArrayBuffer', 'ImageBitmap', 'OffscreenCanvas', 'AudioData', 'VideoFrame'];
/** Never copied: they can only be moved. */
const MOVED = ['ReadableStream', 'WritableStream', 'TransformStream', 'MessagePort'];

/** @param {string[]} names */
const existing = (names) =>
  names.map((name) => /** @type {any} */ (globalThis)[name]).filter((type) => typeof type === 'function');
const movable = existing(MOVABLE);
const moved = existing(MOVED);

/**
 * The transferable objects in a payload.
 *
 * @param {unknown} payload within the limits of nesting and size
 * @param {boolean} wanted the caller asks for data to be moved
 * @returns {Transferable[]}
 */
export function transferables(payload, wanted) {
  if (isSimple(payload)) return [];
  /** @type {Set<any>} */
  const found = new Set();
  // An app's progress, notifications and questions may be cyclic.
  const seen = new Set();
  const stack = [payload];
  while (stack.length > 0) {
    const item = stack.pop();
    if (typeof item !== 'object' || item === null || seen.has(item)) continue;
    seen.add(item);
    if (moved.some((type) => item instanceof type)) found.add(item);
    else if (wanted && movable.some((type) => item instanceof type)) found.add(item);
    else if (ArrayBuffer.isView(item)) {
      if (wanted && item.buffer instanceof ArrayBuffer) found.add(item.buffer);
    } else {
      const inner = Array.isArray(item) || isPlain(item) ? Object.values(item) : membersOf(item);
      // One by one: a call takes so many arguments only.
      for (const it of inner) if (typeof it === 'object') stack.push(it);
    }
  }
  return [...found];
}

/** What a collection holds, which is cloned with it. @param {object} item @returns {Iterable<unknown>} */
function membersOf(item) {
  if (item instanceof Map) return [...item.keys(), ...item.values()];
  return item instanceof Set ? item : [];
}
