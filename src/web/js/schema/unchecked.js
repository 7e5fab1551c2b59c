/**
 * The error for parameters that would take too long to check.
 */

/** @import { Verdict } from '../validators.js' */

/** @type {Verdict} */
export const UNCHECKED = { code: 'INVALID_PARAMS', message: 'The parameters take too long to check against the patterns of the schema' };

/** Thrown when a check is given up. */
export class Unchecked extends Error {}
