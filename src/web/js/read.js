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

/** Where some pages add members, which every object then has. */
const ROOT = Object.prototype;

/**
 * What others have given, without the members that the page has added to `Object.prototype`.
 *
 * @template T
 * @param {T} value
 * @param {readonly string[]} keys the members that are read
 * @returns {T} the same value in a page that has added none of them; else a copy of the own members
 */
export function bare(value, keys) {
  for (const key of keys) if (key in ROOT && isObject(value)) return /** @type {any} */ ({ __proto__: null, ...value });
  return value;
}

/**
 * The same for all objects in a value, in a page that has added anything.
 *
 * @template T
 * @param {T} value as in JSON
 * @returns {T}
 */
export function bareTree(value) {
  if (Reflect.ownKeys(ROOT).length <= OF_ROOT || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return /** @type {any} */ (value.map(bareTree));
  const copy = /** @type {any} */ ({ __proto__: null });
  for (const [key, inner] of Object.entries(value)) Object.defineProperty(copy, key, /** @type {any} */ ({ __proto__: null, value: bareTree(inner), enumerable: true }));
  return copy;
}

/** The number of members that the language gives to `Object.prototype`. */
const OF_ROOT = 12;

/**
 * @param {any} value
 * @param {string} key
 * @returns {any} undefined also if it cannot be read, and if every object of the page has it
 */
export function get(value, key) {
  try {
    if (!isObject(value)) return undefined;
    return key in ROOT && !Object.hasOwn(value, key) && value[key] === /** @type {any} */ (ROOT)[key] ? undefined : value[key];
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
