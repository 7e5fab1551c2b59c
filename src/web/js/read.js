/**
 * Reads objects that others have made: messages, errors, options. Nothing here throws.
 */
import { log } from './errors.js';

/** @param {unknown} value @returns {value is Record<string, any>} false for null, an array, and a proxy that was revoked */
export function isObject(value) {
  try {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * @param {any} value
 * @param {string} key
 * @returns {any} undefined also if it cannot be read
 */
export function get(value, key) {
  try {
    return isObject(value) ? value[key] : undefined;
  } catch {
    return undefined;
  }
}

/**
 * @template {keyof Types} T
 * @param {T} type
 * @param {any} value
 * @param {string} key
 * @returns {Types[T] | undefined} the value, if it has that type
 */
export function getA(type, value, key) {
  const found = get(value, key);
  return typeof found === type ? found : undefined;
}

/** @typedef {{ string: string, number: number, boolean: boolean }} Types */

/** The longest id or name. Longer text is not copied into the memory of Rust. */
export const MAX_NAME = 256;

/** Whether a value can be the id of a message. Other values are not read or sent back: an object's text may be endless. @param {unknown} value @returns {value is string | number} */
export const isId = (value) => typeof value === 'string' || typeof value === 'number';

/** @param {string} text a URL @returns {string | undefined} its origin; undefined if it has no origin that identifies it */
export function originOf(text) {
  try {
    const { origin } = new URL(text);
    // A star is not a wildcard here, and would match nothing.
    return origin === 'null' || /[*%]/.test(origin) ? undefined : origin;
  } catch {
    return undefined;
  }
}

/** For milliseconds and limits. NaN is not equal to or above anything. @param {unknown} value @returns {value is number} */
export const isAmount = (value) => typeof value === 'number' && value >= 0;

/** The error for values that are not milliseconds. */
export const MILLISECONDS = 'it is a number of milliseconds, not negative';

/** The unknown options that were already reported. @type {Set<string>} */
const told = new Set();

/**
 * Warns of unknown options, once for each name: a misspelt option would otherwise be ignored without a
 * message.
 *
 * @param {string} where
 * @param {any} options
 * @param {string[]} known
 */
export function warnOfUnknown(where, options, known) {
  for (const name of Object.keys(options ?? {})) {
    const what = `${where}: unknown option "${name}"`;
    if (known.includes(name) || told.has(what)) continue;
    told.add(what);
    log('warn', `${what}. Known are ${known.join(', ')}`);
  }
}
