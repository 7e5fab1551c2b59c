/**
 * Reads the Agentic Browser Protocol for an agent: the app's messages about calls. The gateway's
 * `wire/answers.rs` interprets answers in the same way, by the vectors of
 * `tests/conformance/abp/answers.json`.
 */
import { OPEN } from './codes.js';
import { CALL_ENDED } from './envelope.js';
import { problem } from './errors.js';
import { LIST, isListing } from './listing.js';
import { MAX_NAME, get, getA, isObject } from './read.js';
import { reasonOf } from './signal.js';

const NO_SESSION = ['NOT_INITIALIZED', 'SESSION_EXPIRED', 'SESSION_INVALID'];

/**
 * Passes an app's message to the wasm half. A message that does not concern calls is a sign of life.
 *
 * @param {any} rust the functions of the wasm half
 * @param {number} agent
 * @param {any} shell the object that they call
 * @param {any} envelope
 */
export function receiveFromApp(rust, agent, shell, envelope) {
  const payload = get(envelope, 'payload');
  switch (get(envelope, 'type')) {
    case 'capabilities/call-result':
      return callResult(rust, agent, shell, keyOf(get(envelope, 'id')), payload);
    case 'capabilities/cancel-result':
      return cancelResult(rust, agent, shell, keyOf(get(envelope, 'id')), payload);
    case 'error':
      return rust.refused(agent, shell, keyOf(get(envelope, 'id')), responseOf(payload));
    case `${LIST}-result`:
      return rust.listed(agent, shell, keyOf(get(envelope, 'id')), listing(payload));
    case 'shutdown-result':
      return rust.shutDown(agent, shell);
    case 'progress': {
      const operation = get(payload, 'operationId');
      // An app may turn a token of digits into a number.
      const named = typeof operation === 'string' || typeof operation === 'number';
      return named ? rust.progress(agent, shell, String(operation).slice(0, MAX_NAME + 1), payload) : rust.heard(agent, shell);
    }
    case 'notification': {
      const data = get(payload, 'data');
      const callId = getA('string', data, 'callId');
      const { success, after } = readEnd(data);
      if (get(payload, 'event') !== CALL_ENDED || callId === undefined || !(after >= 0)) return rust.heard(agent, shell);
      return rust.ended(agent, shell, callId.slice(0, MAX_NAME + 1), success, after);
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
  const response = responseOf(payload);
  const cancelled = get(payload, 'cancelled');
  if (!response) return rust.called(agent, shell, key, undefined);
  // A successful call was not cancelled, whatever else its response says.
  if (response.success) return rust.called(agent, shell, key, cancelled ? { ...response, cancelled: false } : response);
  if (cancelled === true) return seen(shell, payload, (stop) => rust.stopped(agent, shell, key, response, stop));
  const error = errorOf(get(payload, 'error'));
  // This failure has the code of a cancelled call. How far the call was seen to stop is unknown.
  if (error.code === 'CANCELLED') return rust.stopped(agent, shell, key, response, undefined);
  const failed = { ...response, error, ...(cancelled && { cancelled: false }) };
  return OPEN.includes(error.code) ? rust.undecided(agent, shell, key, failed) : rust.called(agent, shell, key, failed);
}

/** @param {any} payload @returns {object | undefined} the app's list or error; undefined if it has neither */
function listing(payload) {
  const error = get(payload, 'error');
  if (error != null) return { error };
  const capabilities = get(payload, 'capabilities');
  return isListing(capabilities) ? { capabilities } : undefined;
}

/** An error in a form that every reader can read. @param {any} given the error of an app */
export function errorOf(given) {
  const code = getA('string', given, 'code') || 'OPERATION_FAILED';
  // Some apps send the error as a text.
  const message = getA('string', given, 'message') || (typeof given === 'string' && given) || 'The app did not say what went wrong';
  return { ...problem(code, message), ...(isObject(given) && given), code, message };
}

/**
 * @param {any} rust @param {number} agent @param {any} shell
 * @param {number} key
 * @param {any} payload
 */
function cancelResult(rust, agent, shell, key, payload) {
  const [cancelled, error] = [get(payload, 'cancelled'), get(payload, 'error')];
  const failed = isObject(error);
  if (failed ? cancelled === true : typeof cancelled !== 'boolean') return rust.misread(agent, shell, key);
  const callId = get(payload, 'callId');
  const named = callId == null ? undefined : String(callId).slice(0, MAX_NAME + 1);
  if (cancelled) {
    const { success, after } = readEnd(get(get(payload, 'metadata'), 'ended'));
    return seen(shell, payload, (stop) => rust.confirmed(agent, shell, key, named, stop, success, after));
  }
  const lost = NO_SESSION.includes(get(error, 'code'));
  const reason = reasonOf(get(payload, 'reason'));
  return rust.refusedCancel(agent, shell, key, named, reason, failed ? error : undefined, lost);
}

/** @param {any} payload @returns {any} undefined if it is no ABPResponse */
const responseOf = (payload) => (typeof get(payload, 'success') === 'boolean' ? payload : undefined);

/** @param {unknown} end `after` is NaN if there is no such end */
const readEnd = (end) => ({ success: get(end, 'success') === true, after: getA('number', end, 'after') ?? NaN });

/** @param {unknown} id @returns {number} the key of the request it names; 0 for one that is not ours */
function keyOf(id) {
  if (typeof id !== 'number' && !(typeof id === 'string' && /^\d{1,10}$/.test(id))) return 0;
  const key = Number(id);
  return Number.isInteger(key) && key > 0 && key < 2 ** 32 ? key : 0;
}

/**
 * Passes on how far a call was seen to stop. The other details, of a call in a worker, do not go
 * through Rust: they are added to the response that this settles.
 *
 * @param {{ by?: object }} shell
 * @param {any} payload
 * @param {(stop: string | undefined) => unknown} settle Rust knows the words
 */
function seen(shell, payload, settle) {
  const metadata = get(payload, 'metadata');
  const [stop, step] = ['stop', 'step'].map((name) => getA('string', metadata, name)?.slice(0, 32));
  const took = getA('number', metadata, 'took');
  if (step !== undefined && took !== undefined) shell.by = { stop, step, took };
  settle(stop);
  shell.by = undefined;
}
