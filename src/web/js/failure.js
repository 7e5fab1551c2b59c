/**
 * Converts a thrown value, or an answer in place of data, to the form in which it is passed on. The
 * value may be anything: an exception while it is read is not passed on.
 */
import { CapHostError } from './errors.js';
import { inspect } from './inspect.js';
import { kindOf } from './plain.js';
import { get, getA } from './read.js';
import { cloned } from './snapshot.js';

/** The number of characters of a message and of the details that are kept. */
const MAX_TEXT = 65_536;

/** The fields of an ABP error. Every other member of an object becomes one of its details. */
const FIELDS = ['code', 'message', 'retryable', 'retryAfter', 'details', 'alternatives'];

/** The number of members or errors that become details, and of nested causes. */
const MOST = 64;
const CAUSES = 4;

/** @param {unknown} error what people read of it */
export const messageOf = (error) => getA('string', error, 'message') ?? (TEXTS.includes(typeof error) ? String(error) : 'The capability failed');

/** The types of values that are their own message. */
const TEXTS = ['string', 'number', 'bigint', 'boolean'];

/** @param {unknown} error @returns {string | undefined} its code. A code of ABP is text, and not long */
function codeOf(error) {
  const code = getA('string', error, 'code');
  return code && code.length <= 128 ? code : undefined;
}

/**
 * Returns a copy of a value that can be sent, and undefined for any other value.
 *
 * @typedef {(value: unknown) => unknown} Fit
 */

/** @type {Fit} */
export function copyIfAny(value) {
  try {
    return cloned(value);
  } catch {
    return undefined;
  }
}

/**
 * The error's own details. If none of them can be sent, everything else that is known of the error.
 *
 * @param {unknown} error
 * @param {Fit} fit
 * @returns {unknown}
 */
export function detailsOf(error, fit) {
  const own = fit(get(error, 'details'));
  if (own !== undefined) return own;
  try {
    if (Array.isArray(error)) return fit(partOf(error, fit, CAUSES));
    const more = about(error, fit, CAUSES);
    if (Object.keys(more).length > 0) return fit(more);
  } catch {
    // The error cannot be read.
  }
  return undefined;
}

/**
 * @param {any} error
 * @param {Fit} fit
 * @param {number} causes
 * @returns {Record<string, unknown>} the members of an object; of an Error, its name, errors and cause, and its own
 *   members that are text, numbers or booleans, such as a status
 */
function about(error, fit, causes) {
  if (typeof error !== 'object' || error === null) return {};
  const own = Object.keys(error);
  const keys = isError(error) ? new Set([...OF_ERRORS, ...own]) : own;
  const found = [...keys].slice(0, MOST).map((key) => {
    const it = get(error, key);
    // A code that is no code of ABP, such as a number, is a detail.
    const isField = key === 'code' ? it === codeOf(error) : FIELDS.includes(key);
    const isLeft = isField || (isError(error) && !OF_ERRORS.includes(key) && !TEXTS.includes(typeof it));
    return [key, isLeft ? undefined : partOf(it, fit, causes)];
  });
  // A name that says nothing is left out.
  return Object.fromEntries(found.filter(([, it]) => it !== undefined && it !== 'Error' && it !== CapHostError.name));
}

/** @param {any} it a part of an error @param {Fit} fit @param {number} causes @returns {unknown} the part of it that can be sent */
function partOf(it, fit, causes) {
  if (Array.isArray(it)) return it.some(isError) ? it.slice(0, MOST).map((one) => partOf(one, fit, causes)) : fit(it);
  if (!isError(it)) return fit(it);
  const code = codeOf(it);
  return causes > 0 ? { ...(code && { code }), message: messageOf(it), ...about(it, fit, causes - 1) } : undefined;
}

const OF_ERRORS = ['name', 'errors', 'cause'];

/** @param {unknown} it */
const isError = (it) => /Error$|^DOMException$/.test(kindOf(it));

/**
 * A thrown or answered error, in the form that Rust takes. Its code is kept. An error without a code
 * counts as the operation's failure. Only text, numbers, and details that are data are passed on.
 *
 * @param {unknown} error
 * @param {{ depth: number, size: number }} [limits] levels and characters that the whole may have
 * @returns {{ code: string, message: string, retryable: boolean | undefined, retryAfter: number | undefined, details: unknown, alternatives: unknown }}
 */
export function failureOf(error, { depth, size } = { depth: 32, size: 2 * MAX_TEXT }) {
  const code = codeOf(error) ?? 'OPERATION_FAILED';
  const message = messageOf(error).slice(0, Math.min(MAX_TEXT, Math.max(size - code.length, 0)));
  const left = Math.min(MAX_TEXT, size - code.length - message.length);
  /** @type {(depth: number, beside?: unknown) => Fit} */
  const within = (depth, beside) => (it) => {
    // A second read of the value itself may give something else.
    const copy = copyIfAny(it);
    return inspect([copy, beside], depth + 1, left) === undefined ? copy : undefined;
  };
  const alternatives = within(1)(get(error, 'alternatives'));
  return {
    code,
    message,
    retryable: getA('boolean', error, 'retryable'),
    retryAfter: getA('number', error, 'retryAfter'),
    details: detailsOf(error, within(Math.min(32, depth), alternatives)),
    alternatives,
  };
}
