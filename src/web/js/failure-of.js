/**
 * What somebody threw or answered, as Rust takes it.
 */
import { inspect } from './inspect.js';
import { get, getA } from './read.js';

/** Characters of a message, and of details. */
const MAX_TEXT = 65_536;

/**
 * Its code is kept; anything without one is the operation's failure. Nothing of it but text,
 * numbers and plain details is passed on.
 *
 * @param {unknown} error
 * @returns {{ code: string, message: string, retryable: boolean | undefined, retryAfter: number | undefined, details: unknown }}
 */
export function failureOf(error) {
  const code = getA('string', error, 'code');
  const message = getA('string', error, 'message') ?? (typeof error === 'string' ? error : 'The capability failed');
  const details = get(error, 'details');
  return {
    code: code && code.length <= 128 ? code : 'OPERATION_FAILED',
    message: message.slice(0, MAX_TEXT),
    retryable: getA('boolean', error, 'retryable'),
    retryAfter: getA('number', error, 'retryAfter'),
    details: inspect(details, 32, MAX_TEXT) === undefined ? details : undefined,
  };
}
