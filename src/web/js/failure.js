/**
 * Converts a thrown value, or an answer in place of data, to the form in which it is passed on. The
 * value may be anything: an exception while it is read is not passed on.
 */
import { CapHostError } from './errors.js';
import { inspect, kindOf } from './inspect.js';
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
export const messageOf = (error) => getA('string', error, 'message') ?? (typeof error === 'string' ? error : 'The capability failed');

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
 * @returns {Record<string, unknown>} its members; of an Error, its name, errors and cause
 */
function about(error, fit, causes) {
  const keys = isError(error) ? OF_ERRORS : kindOf(error) === 'Object' ? Object.keys(error) : [];
  const inner = (/** @type {unknown} */ it) => {
    if (!isError(it)) return fit(it);
    const code = getA('string', it, 'code');
    return causes > 0 ? { ...(code && { code }), message: messageOf(it), ...about(it, fit, causes - 1) } : undefined;
  };
  const found = keys.filter((key) => !FIELDS.includes(key)).slice(0, MOST).map((key) => {
    const it = get(error, key);
    return [key, Array.isArray(it) && it.some(isError) ? it.slice(0, MOST).map(inner) : inner(it)];
  });
  // A name that says nothing is left out.
  return Object.fromEntries(found.filter(([, it]) => it !== undefined && it !== 'Error' && it !== CapHostError.name));
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
  const own = getA('string', error, 'code');
  const code = own && own.length <= 128 ? own : 'OPERATION_FAILED';
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
