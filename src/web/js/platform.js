/**
 * The functions of the platform that Rust needs. None of them throws.
 */
import { guard } from './guard.js';

// Kept in a constant, because looking `performance` up costs more than reading the clock.
const clock = performance;

/** The method that `await using` calls. For browsers without `await using`, bundlers use this name. @type {typeof Symbol.asyncDispose} */
export const asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/** A monotonic time in milliseconds. */
export const now = () => clock.now();

const settled = Promise.resolve();

/**
 * Runs a callback with the next microtask. A promise costs a third of what the browser's
 * `queueMicrotask` costs.
 *
 * @param {() => void} callback does not throw
 */
export const soon = (callback) => void settled.then(callback);

/** Each byte as two hexadecimal digits. */
const DIGITS = [...new Uint8Array(256)].map((_, byte) => byte.toString(16).padStart(2, '0'));

/** Random bytes, drawn for many ids at once: one draw, or one `randomUUID`, costs as much as half a call. */
const drawn = new Uint8Array(4096);
let used = drawn.length;

/** @returns {string} a UUID (version 4) */
export function newId() {
  if (used === drawn.length) {
    crypto.getRandomValues(drawn);
    used = 0;
  }
  used += 16;
  return uuidOf(drawn, used - 16);
}

/**
 * @param {Uint8Array} bytes random ones
 * @param {number} [from] where its sixteen begin
 * @returns {string} the UUID (version 4) made of them
 */
export function uuidOf(bytes, from = 0) {
  const two = (/** @type {number} */ place) => DIGITS[bytes[from + place] ?? 0];
  const version = DIGITS[((bytes[from + 6] ?? 0) & 15) | 64];
  const variant = DIGITS[((bytes[from + 8] ?? 0) & 63) | 128];
  return (
    `${two(0)}${two(1)}${two(2)}${two(3)}-${two(4)}${two(5)}-${version}${two(7)}-${variant}${two(9)}` +
    `-${two(10)}${two(11)}${two(12)}${two(13)}${two(14)}${two(15)}`
  );
}

/** @returns {unknown[]} */
export const array = () => [];

/**
 * @param {unknown[]} array
 * @param {unknown} element
 */
export const push = (array, element) => void array.push(element);

/**
 * @param {unknown} array
 * @param {number} index
 * @returns {string | undefined} the value, if it is text
 */
export const textAt = (array, index) => (Array.isArray(array) && typeof array[index] === 'string' ? array[index] : undefined);

/**
 * @param {AbortController} controller
 * @param {string} [reason] the caller's reason
 */
export function abortWith(controller, reason) {
  controller.abort(new DOMException(reason ?? 'The call was cancelled', 'AbortError'));
}

/** @type {(() => void)[]} */
const tasks = [];
/** @type {MessageChannel | undefined} */
let channel;

/**
 * Runs a callback in a task of its own, after all that already waits in the event loop. Uses a message,
 * because browsers delay nested timeouts by 4 ms.
 *
 * @param {() => void} callback
 */
export function inNextTask(callback) {
  if (!channel) {
    channel = new MessageChannel();
    channel.port1.onmessage = guard(() => tasks.shift()?.());
  }
  tasks.push(callback);
  channel.port2.postMessage(0);
}
