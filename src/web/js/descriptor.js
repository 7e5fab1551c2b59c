/**
 * The app's descriptions of itself and of its capabilities.
 */
import { log, text } from './errors.js';
import { textOf } from './json.js';
import { MAX_NAME, bareTree, isAmount, isObject, warnOfUnknown } from './read.js';
import { resolve } from './schema/references.js';

/**
 * @param {any} app
 * @returns {string | undefined} the problem with it, if there is a problem
 */
export function problemWithApp(app) {
  const bad = ['id', 'name', 'version'].find((field) => !isName(app?.[field]));
  return bad && `app.${bad} must be a string of 1 to 256 characters`;
}

/**
 * @param {unknown} name
 * @param {any} options
 * @returns {string | undefined} the problem with them, if there is a problem
 */
export function problemWithCapability(name, options) {
  if (!isName(name)) return 'register: name must have 1 to 256 characters';
  if (!isObject(options)) return `${name}: options must be an object`;
  warnOfUnknown('register', options, OF_CAPABILITIES);
  const { concurrency } = options;
  if (concurrency !== undefined && !(Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= 1e9)) {
    return `${name}: concurrency must be a whole number from 1`;
  }
  if (!isGrace(options.settleGrace)) return `${name}: ${GRACE}`;
  for (const [field, kind] of Object.entries(KINDS)) {
    const value = options[field];
    if (value !== undefined && (Array.isArray(value) ? 'array' : typeof value) !== kind) return `${name}: ${field} must be of type ${kind}`;
  }
  const { inputSchema, outputSchema, annotations, confirm } = options;
  if (confirm !== undefined && !['always', 'destructive'].includes(confirm)) return `${name}: confirm must be always or destructive`;
  warnOfUnknown(`${name}: annotations`, annotations, HINTS);
  const hint = HINTS.find((it) => !['boolean', 'undefined'].includes(typeof annotations?.[it]));
  if (hint) return `${name}: annotations.${hint} must be true or false`;
  for (const [which, schema] of Object.entries({ inputSchema, outputSchema })) {
    const odd = (/** @type {string} */ at, /** @type {string} */ found) =>
      log('warn', `${name}: ${which}${at.slice(1)} has "${found}" and no keyword of JSON Schema, so everything fits it: properties belong in { type: 'object', properties: { … } }`);
    try {
      if (schema !== undefined) resolve(bareTree(schema), odd);
    } catch (error) {
      return `${name}: ${which} is invalid: ${text(error)}`;
    }
  }
  const { type = 'object' } = bareTree(inputSchema ?? {});
  return [type].flat().includes('object') ? undefined : `${name}: inputSchema must be of an object, which parameters are, not of type ${type}`;
}

/**
 * @param {string} name
 * @param {any} options of `registerWorker`, with their defaults; the grace is looked at with the capability
 * @returns {string | false} the problem with them, if there is a problem
 */
export function problemWithWorker(name, { pool, warm, type, finish }) {
  if (!(Number.isInteger(pool) && pool >= 1 && pool <= 64)) return `${name}: pool must be a whole number from 1 to 64`;
  if (typeof warm !== 'boolean') return `${name}: warm must be true or false`;
  if (!['module', 'classic', 'wasm'].includes(type)) return `${name}: type must be module, classic or wasm`;
  return finish !== undefined && typeof finish !== 'function' && `${name}: finish must be a function`;
}

/** Members that a document has only if the app sets them. */
const EXTRAS = ['title', 'annotations', 'confirm', 'experimental', 'deprecated', 'deprecationMessage', 'alternatives'];
/** Allowed members, and the kind of each value, except for members that are checked in detail. */
const KINDS = {
  title: 'string', description: 'string', available: 'boolean', experimental: 'boolean', deprecated: 'boolean', deprecationMessage: 'string',
  requirements: 'array', alternatives: 'array', features: 'object', annotations: 'object', replace: 'boolean', confirm: 'string',
};
/** The hints of MCP on what a call does. */
const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
export const OF_CAPABILITIES = [...Object.keys(KINDS), 'inputSchema', 'outputSchema', 'concurrency', 'settleGrace'];

const GRACE = 'settleGrace must be a number of milliseconds, finite and not negative';

/** @param {unknown} grace */
const isGrace = (grace) => grace === undefined || (isAmount(grace) && grace < Infinity);

/** @param {unknown} value */
const isName = (value) => typeof value === 'string' && value !== '' && value.length <= MAX_NAME;

/**
 * The `Capability` object for agents: a copy that nobody can change, neither the app nor a reader of
 * the object.
 *
 * @param {string} name
 * @param {any} options
 * @returns {any}
 * @throws {Error} for a value that JSON cannot express
 */
export function describe(name, options) {
  const { description = '', inputSchema = { type: 'object' }, outputSchema = {}, requirements = [], features = {} } = options;
  const available = options.available !== false;
  /** @type {Record<string, unknown>} */
  const document = { name, description, inputSchema, outputSchema, available, requirements, features };
  for (const key of EXTRAS) {
    if (options[key] !== undefined) document[key] = options[key];
  }
  return frozen(document);
}

/**
 * Whether each call of a capability waits until a person allows it. A capability without hints is as
 * in MCP: it changes something, and may delete or overwrite.
 *
 * @param {any} options
 */
export const confirms = ({ confirm, annotations }) =>
  confirm === 'destructive' ? annotations?.readOnlyHint !== true && annotations?.destructiveHint !== false : confirm !== undefined;

/**
 * @template T
 * @param {T} value
 * @returns {T} a frozen copy, as in JSON
 * @throws {Error} for values that JSON cannot express, including functions, which JSON would silently leave out
 */
function frozen(value) {
  const text = textOf(value, (key, inner) => {
    if (typeof inner === 'function' || typeof inner === 'symbol') throw new TypeError(`"${key}" is a ${typeof inner}`);
    return inner;
  });
  return JSON.parse(text, (_, inner) => Object.freeze(inner));
}

/** The limits, in the order of Rust's parameters. */
export const LIMITS = ['maxRemembered', 'maxInFlight', 'maxInFlightBytes', 'maxSessions', 'maxRequestsPerSecond', 'maxMessageBytes', 'maxDepth'];

/** The options of a host. */
export const OF_HOST = [...LIMITS, 'liveness', 'app', 'settleGrace', 'cancelUndeclared'];

/** @param {any} options of a host @returns {string | undefined} the problem with the options, if there is a problem; an undefined limit has its default */
export function problemWithOptions(options) {
  warnOfUnknown('createHost', options, OF_HOST);
  const bad = [...LIMITS, 'liveness'].find((name) => options?.[name] !== undefined && !isAmount(options[name]));
  const sends = options?.cancelUndeclared;
  if (bad) return `${bad} must be a number, not negative`;
  if (sends !== undefined && typeof sends !== 'boolean') return 'cancelUndeclared must be true or false';
  return problemWithApp(options?.app) ?? (isGrace(options.settleGrace) ? undefined : GRACE);
}
