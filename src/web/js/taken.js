/**
 * Copies of objects of the page itself, which no transport has copied. A second read of such an object
 * may give something else, so a copy is made, and the copy is checked.
 */
import { Refusal, invalid, text } from './errors.js';
import { copyIfAny } from './failure.js';
import { measure } from './inspect.js';
import { copied, small } from './snapshot.js';
import { carry, isGiven } from './transfer.js';

/** @import { Shell } from './shell.js' */

/**
 * @param {Shell} shell
 * @param {unknown} message
 * @param {number} [around] how many levels the message has around what it carries: an envelope and its payload
 * @returns {number} its approximate memory in bytes
 * @throws {Refusal} for a value that is larger or deeper than the host's limits
 */
export function check({ depth, size }, message, around = 2) {
  const bytes = measure(message, depth + around, size);
  if (typeof bytes === 'string') throw new Refusal(invalid(`The message ${bytes}`));
  return bytes;
}

/**
 * @template {object} T
 * @param {Shell} shell
 * @param {T} given
 * @returns {T} a copy of it
 * @throws {Refusal} for a value that cannot be cloned
 */
export function copyOf(shell, given) {
  try {
    return /** @type {T} */ (copied(given));
  } catch (error) {
    check(shell, { payload: { given } });
    throw new Refusal(invalid(`The call cannot be made: ${text(error)}`));
  }
}

/** The size in bytes above which data are not copied. Data that cannot be cloned are not copied either. */
const LARGE = 1 << 16;

/**
 * The data of a capability.
 *
 * @param {Shell} shell
 * @param {unknown} given
 * @returns {{ data: unknown, unfit: string | undefined }} the data to send, or the problem with them
 */
export function dataOf({ depth, size }, given) {
  let data;
  try {
    data = small(given);
  } catch {
    // A getter of the handler threw. The next check finds the problem.
  }
  let measured = measure(data ?? given, depth, size);
  if (measured === 'cannot be read') {
    // A reactive Map or Set has methods of its own.
    data = copyIfAny(given);
    if (data) measured = measure(data, depth, size);
  } else if (data === undefined && typeof given === 'object' && typeof measured === 'number' && measured <= LARGE) {
    try {
      data = carry(given, (it, transfer) => structuredClone(it, { transfer }), given, isGiven);
      measured = measure(data, depth, size);
    } catch {
      // The transport may be able to send it.
    }
  }
  return { data: data ?? given, unfit: typeof measured === 'string' ? measured : undefined };
}
