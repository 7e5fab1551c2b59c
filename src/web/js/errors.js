/**
 * Errors as ABP writes them.
 *
 * @typedef {{ code: string, message: string, retryable: boolean, details?: unknown }} AbpError
 */
import { RETRYABLE } from './codes.js';

/**
 * @param {string} code
 * @param {string} message
 * @returns {AbpError}
 */
export const problem = (code, message) => ({ code, message, retryable: RETRYABLE.includes(code) });

/**
 * @param {string} message
 * @returns {AbpError}
 */
export const invalid = (message) => problem('INVALID_PARAMS', message);

/**
 * An ABPResponse that says so.
 *
 * @param {string} code
 * @param {string} message
 */
export const failure = (code, message) => ({ success: false, error: problem(code, message) });

/** Thrown for what somebody else got wrong. */
export class Refusal {
  /** @param {AbpError} error what is said of it */
  constructor(error) {
    this.error = error;
  }
}

/**
 * An error to throw.
 *
 * @param {AbpError} error
 * @returns {Error & AbpError}
 */
export const thrown = (error) => Object.assign(new Error(error.message), error);

/**
 * @param {string} code
 * @param {string} message
 */
export const abpError = (code, message) => thrown(problem(code, message));

/**
 * What somebody threw, which may be anything, as text.
 *
 * @param {any} error
 * @returns {string}
 */
export function text(error) {
  try {
    return String(error?.message ?? error);
  } catch {
    return 'it cannot be read';
  }
}

/** Which ones can be is decided in Rust. */
export const BAD_CALL_ID = {
  ...invalid('Bad callId: it is a string of 1 to 128 printable characters'),
  details: { path: 'callId' },
};
