/**
 * What Rust needs of the platform. Nothing here throws.
 */
import { guard } from './guard.js';

// Held, because to look it up costs a browser more than to read it.
const clock = performance;

/** `await using` closes what has this. Browsers without it have bundlers that use this name for it. @type {typeof Symbol.asyncDispose} */
export const asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/** Milliseconds that never go back. */
export const now = () => clock.now();

const settled = Promise.resolve();

/**
 * Runs a callback with the next microtask. A promise costs a browser a third of its `queueMicrotask`.
 *
 * @param {() => void} callback which does not throw
 */
export const soon = (callback) => void settled.then(callback);

/** Each byte as two digits. */
const DIGITS = [...new Uint8Array(256)].map((_, byte) => byte.toString(16).padStart(2, '0'));

/** Random bytes, drawn for many ids at once: a draw, or a `randomUUID`, costs as much as half a call. */
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
 * @returns {string | undefined} what stands there, if it is text
 */
export const textAt = (array, index) => (Array.isArray(array) && typeof array[index] === 'string' ? array[index] : undefined);

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
    channel.port1.onmessage = guard(() => tasks.shift()?.());
  }
  tasks.push(callback);
  channel.port2.postMessage(0);
}
