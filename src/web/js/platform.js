/**
 * What Rust needs of the platform. Nothing here throws.
 */
import { enter } from './guard.js';

/** Milliseconds that never go back. */
export const now = () => performance.now();

/** @returns {string} a UUID (version 4) */
export const newId = () => crypto.randomUUID?.() ?? uuidOf(crypto.getRandomValues(new Uint8Array(16)));

/**
 * For a page that was not loaded over TLS: only a secure context has `randomUUID`.
 *
 * @param {Uint8Array} bytes 16 random ones
 */
export function uuidOf(bytes) {
  const digits = [...bytes].map((byte, index) => {
    const fixed = index === 6 ? (byte & 15) | 64 : index === 8 ? (byte & 63) | 128 : byte;
    return ([4, 6, 8, 10].includes(index) ? '-' : '') + fixed.toString(16).padStart(2, '0');
  });
  return digits.join('');
}

/** @returns {unknown[]} */
export const array = () => [];

/**
 * @param {unknown[]} array
 * @param {unknown} element
 */
export const push = (array, element) => void array.push(element);

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
    channel.port1.onmessage = () => enter(() => tasks.shift()?.());
  }
  tasks.push(callback);
  channel.port2.postMessage(0);
}
