/**
 * Copies of objects of the page itself, which no transport has copied. A second read of such an object
 * may give something else, so a copy is made, and the copy is checked.
 */
import { Refusal, invalid, log, text } from './errors.js';
import { copyIfAny } from './failure.js';
import { isWithin, measure } from './inspect.js';
import { copied, small } from './snapshot.js';
import { carry, copyOf as structureOf, transferables } from './transfer.js';

/** @import { Shell } from './shell.js' */
/** @import { Wants } from './transfer.js' */

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

/** The size in bytes above which only the structure of data is copied, and its parts are shared. */
const LARGE = 1 << 16;

/**
 * Data of the app: the result of a capability, progress, a notification.
 *
 * @param {Shell} shell
 * @param {unknown} given
 * @param {Wants} [wants]
 * @param {number} [around] how many of its levels are not the app's
 * @returns {{ data: any, unfit: string | undefined }} the data to send, or the problem with them
 */
export function dataOf({ depth, size }, given, wants, around = 0) {
  const measured = (/** @type {unknown} */ it) => measure(it, depth + around, size);
  let data;
  let found;
  try {
    const taken = small(given);
    // The copy that was measured is what is sent.
    if (taken && isWithin(taken.bytes, depth + around, size)) return { data: taken.copy, unfit: undefined };
    data = taken?.copy;
  } catch {
    // A getter of the app threw. The next check finds the problem.
  }
  try {
    found = measured(data ?? given);
    if (data === undefined && typeof given === 'object' && given !== null) {
      // A reactive Map or Set, which cannot be measured, has methods of its own.
      if (found === 'cannot be read') data = copyIfAny(given);
      else if (typeof found === 'number') data = copyForSending(given, found > LARGE, wants);
      if (data) found = measured(data);
    }
  } catch {
    found = 'cannot be read';
  }
  return { data: data ?? given, unfit: typeof found === 'string' ? found : undefined };
}

/** @param {object} given @param {boolean} isLarge @param {Wants} [wants] */
function copyForSending(given, isLarge, wants) {
  try {
    if (!isLarge) return carry(given, (it, transfer) => structuredClone(it, { transfer }), given, wants);
  } catch {
    // The transport may be able to send it.
  }
  return structureOf(given, transferables(given, wants));
}

/**
 * Tells agents something that they have not asked for. If it cannot be sent, nobody waits for it.
 *
 * @template {object} T
 * @param {Shell} shell
 * @param {string} what
 * @param {T} given
 * @param {(data: T) => void} tell
 * @param {number} [around]
 */
export function tellIfFit(shell, what, given, tell, around) {
  const { data, unfit } = dataOf(shell, given, undefined, around);
  if (unfit) log('warn', `${what} is dropped: it ${unfit}`);
  else tell(data);
}

/**
 * Sends an event of the app to every agent that accepts notifications.
 *
 * @param {Shell} shell
 * @param {unknown} name
 * @param {unknown} [data]
 */
export function notify(shell, name, data) {
  const event = String(name);
  tellIfFit(shell, `the notification ${event.slice(0, 64)}`, { event, data }, (it) => shell.rust.notify(shell.number, it.event, it.data), 1);
}
