/**
 * Errors in the form of ABP, and the treatment of errors that others throw.
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
 * An ABPResponse with that error.
 *
 * @param {string} code
 * @param {string} message
 */
export const failure = (code, message) => ({ success: false, error: problem(code, message) });

/** Thrown for a mistake of another party. */
export class Refusal {
  /** @param {AbpError} error the error to answer with */
  constructor(error) {
    this.error = error;
  }
}

/** An error that is thrown, or that a promise rejects with. It has the fields of an ABPError. */
export class CapHostError extends Error {
  /** Set explicitly, as minifiers shorten class names: Node prints this name. */
  static name = 'CapHostError';
  name = CapHostError.name;
  /** @type {any} a string */
  code;
  /** @type {any} a boolean */
  retryable;

  /** @param {AbpError} error */
  constructor(error) {
    super(error.message);
    Object.assign(this, error);
  }
}

/**
 * A JavaScript error to throw.
 *
 * @param {AbpError} error
 */
export const thrown = (error) => new CapHostError(error);

/**
 * @param {string} code
 * @param {string} message
 */
export const abpError = (code, message) => thrown(problem(code, message));

/**
 * A thrown value of any kind, as text.
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

/**
 * Calls a callback. Its failure is its owner's problem, and disturbs nothing here.
 *
 * @param {((...args: any[]) => unknown) | undefined} callback
 * @param {any[]} args
 */
export function report(callback, ...args) {
  try {
    callback?.(...args);
  } catch (error) {
    later(() => (globalThis.reportError ?? console.error)(error));
  }
}

const settled = Promise.resolve();

/**
 * Runs a function that calls code of the page beside a call. It runs in a job of its own, after the
 * answer, so it can neither delay the answer nor throw into it.
 *
 * @param {() => unknown} work
 */
export const later = (work) => void settled.then(work).catch(() => {});

/**
 * Writes to the console, which pages may replace.
 *
 * @param {'warn' | 'error'} how
 * @param {unknown[]} what
 */
export const log = (how, ...what) => later(() => console[how](`caphost: ${what.shift()}`, ...what));

/**
 * Rust decides which callIds are valid. Annotated so that the worker's own script, which has no use for
 * it, leaves it out.
 */
export const BAD_CALL_ID = /* @__PURE__ */ Object.assign(
  /* @__PURE__ */ invalid('Bad callId: it is a string of 1 to 128 printable characters'),
  { details: { path: 'callId' } },
);
