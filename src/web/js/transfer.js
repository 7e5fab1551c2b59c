/**
 * What is moved with a message rather than copied.
 */

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
  /** @type {Set<any>} */
  const found = new Set();
  const stack = [payload];
  while (stack.length > 0) {
    const item = stack.pop();
    if (typeof item !== 'object' || item === null) continue;
    if (moved.some((type) => item instanceof type)) found.add(item);
    else if (wanted && movable.some((type) => item instanceof type)) found.add(item);
    else if (ArrayBuffer.isView(item)) {
      if (wanted && item.buffer instanceof ArrayBuffer) found.add(item.buffer);
    } else if (Array.isArray(item)) stack.push(...item);
    else if (isPlain(item)) stack.push(...Object.values(item));
  }
  return [...found];
}

/** @param {object} item */
function isPlain(item) {
  const prototype = Object.getPrototypeOf(item);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * What is sent instead of an envelope that could not be: a response whose data cannot be cloned is
 * the capability's failure.
 *
 * @param {any} envelope
 * @param {unknown} error
 */
export function replacement(envelope, error) {
  if (envelope.type !== 'capabilities/call-result') return undefined;
  const message = `The capability returned data that cannot be sent: ${error instanceof Error ? error.message : error}`;
  const failure = { code: 'OPERATION_FAILED', message, retryable: false };
  return { ...envelope, payload: { success: false, error: failure } };
}
