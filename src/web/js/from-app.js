/**
 * Reads the Agentic Browser Protocol for an agent: the app's messages about calls. Rust decides what
 * they count as: `src/dialect/answers.rs`.
 */
import { problem } from './errors.js';
import { CALL_ENDED } from './events.js';
import { LIST, isListing } from './listing.js';
import { MAX_NAME, get, getA, isObject } from './read.js';
import { reasonOf } from './signal.js';

/**
 * Passes an app's message to the wasm half. A message that does not concern calls is a sign of life.
 *
 * @param {any} rust the functions of the wasm half
 * @param {number} agent
 * @param {any} shell the object that they call
 * @param {any} envelope
 */
export function receiveFromApp(rust, agent, shell, envelope) {
  const [type, id, payload] = ['type', 'id', 'payload'].map((name) => get(envelope, name));
  try {
    receivePayload(rust, agent, shell, type, id, payload);
  } catch {
    // A payload that cannot be read is none.
    receivePayload(rust, agent, shell, type, id, undefined);
  }
}

/**
 * @param {any} rust @param {number} agent @param {any} shell
 * @param {unknown} type
 * @param {unknown} id
 * @param {any} payload
 */
function receivePayload(rust, agent, shell, type, id, payload) {
  switch (type) {
    case 'capabilities/call-result':
      return callResult(rust, agent, shell, keyOf(id), payload);
    case 'capabilities/cancel-result':
      return cancelResult(rust, agent, shell, keyOf(id), payload);
    case 'error':
      return rust.refused(agent, shell, keyOf(id), responseOf(payload));
    case `${LIST}-result`:
      return rust.listed(agent, shell, keyOf(id), listing(payload));
    case 'shutdown-result':
      return rust.shutDown(agent, shell);
    case 'progress': {
      const operation = get(payload, 'operationId');
      // An app may turn a token of digits into a number.
      const named = typeof operation === 'string' || typeof operation === 'number';
      return named ? rust.progress(agent, shell, nameOf(String(operation)), payload) : rust.heard(agent, shell);
    }
    case 'notification': {
      const data = get(payload, 'data');
      const callId = get(payload, 'event') === CALL_ENDED ? getA('string', data, 'callId') : undefined;
      return callId === undefined ? rust.heard(agent, shell) : rust.ended(agent, shell, nameOf(callId), ...readEnd(data));
    }
    default:
      return rust.heard(agent, shell);
  }
}

/**
 * @param {any} rust @param {number} agent @param {any} shell
 * @param {number} key
 * @param {any} payload
 */
function callResult(rust, agent, shell, key, payload) {
  const success = getA('boolean', payload, 'success');
  const cancelled = get(payload, 'cancelled');
  const error = success === false ? errorOf(get(payload, 'error')) : undefined;
  // For a cancelled call Rust writes another response.
  // A copy, which can be read.
  const response = { ...payload, ...(error && { error }), ...(cancelled && { cancelled: false }) };
  rust.called(agent, shell, key, response, success, flag(cancelled), nameOf(error?.code), ...(cancelled ? readStop(get(payload, 'metadata')) : UNSAID));
}

/**
 * Passes on the response of a call that has completed.
 *
 * @param {any} rust @param {number} agent @param {any} shell
 * @param {unknown} id
 * @param {object} response
 */
export function receiveCompleted(rust, agent, shell, id, response) {
  rust.called(agent, shell, keyOf(id), response, true, undefined, undefined, undefined, undefined, NaN);
}

/**
 * @param {any} rust @param {number} agent @param {any} shell
 * @param {number} key
 * @param {any} payload
 */
function cancelResult(rust, agent, shell, key, payload) {
  const [callId, given, metadata] = ['callId', 'error', 'metadata'].map((name) => get(payload, name));
  const call = callId == null ? undefined : nameOf(String(callId));
  const error = isObject(given) ? given : undefined;
  const code = nameOf(getA('string', error, 'code'));
  const [cancelled, reason] = [getA('boolean', payload, 'cancelled'), reasonOf(get(payload, 'reason'))];
  rust.cancelled(agent, shell, key, call, cancelled, reason, error, code, ...readStop(metadata), ...readEnd(get(metadata, 'ended')));
}

/** @param {any} payload @returns {object | undefined} the app's list or error; undefined if it has neither */
function listing(payload) {
  const error = get(payload, 'error');
  if (error != null) return { error };
  const capabilities = get(payload, 'capabilities');
  return isListing(capabilities) ? { capabilities: capabilities.map((/** @type {any} */ it) => ({ ...it })) } : undefined;
}

/** An error in a form that every reader can read. @param {any} given the error of an app */
export function errorOf(given) {
  const code = getA('string', given, 'code') || 'OPERATION_FAILED';
  // Some apps send the error as a text.
  const message = getA('string', given, 'message') || (typeof given === 'string' && given) || 'The app did not say what went wrong';
  return { ...problem(code, message), ...membersOf(given), code, message };
}

/** @param {unknown} given @returns {object} a copy; empty if it cannot be read */
function membersOf(given) {
  try {
    return { ...(isObject(given) && given) };
  } catch {
    return {};
  }
}

/** @param {any} payload @returns {any} undefined if it is no ABPResponse */
const responseOf = (payload) => (typeof get(payload, 'success') === 'boolean' ? { ...payload } : undefined);

/** @param {unknown} value @returns {boolean | undefined} */
const flag = (value) => (typeof value === 'boolean' ? value : undefined);

/** Only as much of a text as shows that it is too long. @param {string | undefined} name */
const nameOf = (name) => name?.slice(0, MAX_NAME + 1);

/** Of a call that is not cancelled. @type {[]} */
const UNSAID = [];

/** @param {unknown} metadata @returns {[stop?: string, step?: string, took?: number]} */
const readStop = (metadata) => [nameOf(getA('string', metadata, 'stop')), nameOf(getA('string', metadata, 'step')), getA('number', metadata, 'took') ?? NaN];

/** @param {unknown} end @returns {[success?: boolean, after?: number]} */
const readEnd = (end) => [getA('boolean', end, 'success'), getA('number', end, 'after') ?? NaN];

/** @param {unknown} id @returns {number} the key of the request with this id; 0 if the request is not ours */
function keyOf(id) {
  if (typeof id !== 'number' && !(typeof id === 'string' && /^\d{1,10}$/.test(id))) return 0;
  const key = Number(id);
  return Number.isInteger(key) && key > 0 && key < 2 ** 32 ? key : 0;
}
