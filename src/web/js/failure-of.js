/**
 * What somebody threw or answered, as Rust takes it.
 */
import { inspect } from './inspect.js';
import { get, getA } from './read.js';

/**
 * Its code is kept; anything without one is the operation's failure. Nothing of it but text,
 * numbers and plain details is passed on.
 *
 * @param {unknown} error
 * @returns {[code: string, message: string, retryable: boolean | undefined, retryAfter: number, details: unknown]}
 */
export function failureOf(error) {
  const code = getA('string', error, 'code');
  const message = getA('string', error, 'message') ?? (typeof error === 'string' ? error : 'The capability failed');
  const details = get(error, 'details');
  return [
    code && code.length <= 128 ? code : 'OPERATION_FAILED',
    message,
    getA('boolean', error, 'retryable'),
    getA('number', error, 'retryAfter') ?? NaN,
    inspect(details, 32, 65_536) === undefined ? details : undefined,
  ];
}
