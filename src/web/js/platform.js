/**
 * The functions of the platform that Rust needs. None of them throws.
 */
import { guard } from './guard.js';

// Kept in a constant, because looking `performance` up costs more than reading the clock.
const clock = globalThis.performance;

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

/** A name that nobody else has, where there is no wasm module yet, which makes all ids of calls. */
export const uniqueName = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

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
