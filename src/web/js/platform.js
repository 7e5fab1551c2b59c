/**
 * What Rust needs of the platform. Nothing here throws.
 */
import { enter } from './guard.js';

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
 * @param {number} endedLate
 */
export const stats = (inFlight, sessions, elicitations, tasks, calls, cancelled, lateResults, lateProgress, endedLate) =>
  ({ inFlight, sessions, elicitations, tasks, calls, cancelled, lateResults, lateProgress, endedLate });

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
