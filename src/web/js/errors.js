/**
 * Errors as ABP writes them, and what becomes of those that somebody else throws.
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

/** An error that is thrown, or that a promise rejects with: it has the fields of an ABPError. */
export class CapHostError extends Error {
  /** Kept where names are made short: Node prints it. */
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
 * An error to throw.
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

/**
 * Calls a callback, whose failure is its owner's and disturbs nothing here.
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
 * Does what calls the page's own beside a call: in a job of its own, after the answer, which it can
 * neither hold up nor throw into.
 *
 * @param {() => unknown} work
 */
export const later = (work) => void settled.then(work).catch(() => {});

/**
 * Tells whoever reads the console, which pages replace.
 *
 * @param {'warn' | 'error'} how
 * @param {unknown[]} what
 */
export const log = (how, ...what) => later(() => console[how](`caphost: ${what.shift()}`, ...what));

/** Rust decides which ones can be. Annotated for the worker's own script, which has no use for it. */
export const BAD_CALL_ID = /* @__PURE__ */ Object.assign(
  /* @__PURE__ */ invalid('Bad callId: it is a string of 1 to 128 printable characters'),
  { details: { path: 'callId' } },
);
