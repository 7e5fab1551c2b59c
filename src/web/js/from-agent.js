/**
 * Reads the Agentic Browser Protocol for a host. This file says which messages are valid, in the words
 * of `gateway/src/wire/abp/from_agent.rs`. Rust decides what follows from them.
 *
 * Each property is read only once, so the checked value is the used value. Reading an object of another
 * party may throw anything. For invalid content of the object, a [`Refusal`] is thrown.
 */
import { BAD_CALL_ID, Refusal, invalid, problem } from './errors.js';
import { MAX_NAME, MILLISECONDS, bare, isAmount, isId, isObject } from './read.js';
import { reasonOf } from './signal.js';

/**
 * A well-formed call.
 *
 * @typedef {object} Call
 * @property {string} [callId] the agent's. Without it, `Ids.name` gives the call one
 * @property {string} capability
 * @property {object} params
 * @property {number} timeout milliseconds; infinite for none
 * @property {unknown} token of its progress, if the agent gave one
 * @property {number} by the connection of the agent that made it, or has made the call that made it
 * @property {import('./borrowed.js').Borrowed} [borrowed] the functions in its parameters
 * @property {Maker} [within] the call that has made it
 *
 * @typedef {{ callId: string, within?: Maker | undefined }} Maker a call that has made another, and the call that has made it
 */

const TEXT = 'it is a string';
const FLAG = 'it is a boolean';

/**
 * @param {unknown} envelope
 * @returns {{ type: string, id: string | number | undefined, payload: any }}
 * @throws {Refusal} for an invalid message
 */
export function readEnvelope(envelope) {
  if (!isObject(envelope)) throw new Refusal(invalid('A message is an object {type, id, timestamp, payload}'));
  const { type, id, payload } = bare(envelope, ENVELOPE);
  if (typeof type !== 'string') throw bad('type', 'a message has a type, which is a string');
  ensureId(id);
  if (type !== 'shutdown' && TYPES.has(type) && !isObject(payload)) throw bad('payload', 'the payload is an object');
  return { type, id, payload };
}

/** @param {unknown} id of a message @throws {Refusal} */
export function ensureId(id) {
  if (id !== undefined && !isId(id)) throw bad('id', 'an id is a string or a number');
}

/** The message types that an agent may send. */
export const TYPES = new Set(['initialize', 'shutdown', 'capabilities/call', 'capabilities/cancel', 'capabilities/list', 'elicitation/response']);

/** @param {string} type an unknown type */
export const unknownType = (type) => new Refusal(problem('NOT_IMPLEMENTED', `There is no message type "${clipped(type)}"`));

/**
 * Features that are not mentioned count as wanted, except questions: an agent must declare that it
 * answers them.
 *
 * @param {any} payload
 * @throws {Refusal}
 */
export function readInitialize(payload) {
  const { agent, protocolVersion, features = {}, requestedCapabilities, agentCapabilities = NONE } = bare(payload, INITIALIZE);
  if (!isObject(agent)) throw bad('agent', 'the agent is {name, version}');
  const { name, version } = bare(agent, AGENT);
  if (typeof name !== 'string') throw bad('agent.name', TEXT);
  if (typeof version !== 'string') throw bad('agent.version', TEXT);
  if (typeof protocolVersion !== 'string') throw bad('protocolVersion', TEXT);
  if (!isObject(features)) throw bad('features', 'it is an object of booleans');
  const { notifications = true, progress = true, elicitation = false } = bare(features, FEATURES);
  for (const [feature, on] of Object.entries({ notifications, progress, elicitation })) {
    if (typeof on !== 'boolean') throw bad(`features.${feature}`, FLAG);
  }
  const capabilities = namesOf('requestedCapabilities', requestedCapabilities);
  if (!isObject(agentCapabilities)) throw bad('agentCapabilities', 'it is {allowedRequests}');
  const requests = namesOf('agentCapabilities.allowedRequests', bare(agentCapabilities, CAPABILITIES).allowedRequests);
  if (protocolVersion !== '0.1') {
    throw new Refusal(problem('NOT_SUPPORTED', `Protocol version "${clipped(protocolVersion)}" is not supported; this host speaks "0.1"`));
  }
  return { name: name.slice(0, MAX_NAME), version: version.slice(0, MAX_NAME), notifications, progress, elicitation, capabilities, requests };
}

/** More names than any agent has. They are kept as long as the session. */
const MAX_NAMES = 4096;

/** @param {string} path @param {unknown} list @returns {string[] | undefined} undefined if there is no list */
function namesOf(path, list) {
  if (list === undefined) return undefined;
  const names = Array.isArray(list) && list.length <= MAX_NAMES ? [...list] : [0];
  if (!names.every((it) => typeof it === 'string')) throw bad(path, `it is an array of names, ${MAX_NAMES} at most`);
  // No capability has a name that long.
  return names.map((it) => it.slice(0, MAX_NAME + 1));
}

/**
 * @param {any} payload
 * @returns {Call}
 * @throws {Refusal}
 */
export function readCall(payload) {
  const { capability, options = NONE, params = {}, callId: beside } = bare(payload, CALL);
  if (typeof capability !== 'string') throw bad('capability', 'it is the name of one');
  if (!isObject(options)) throw bad('options', 'it is an object');
  const { timeout = Infinity, progressToken: token, callId = beside } = bare(options, OPTIONS);
  return callOf(capability, params, callId, timeout, token);
}

/**
 * @param {unknown} capability @param {unknown} params @param {unknown} callId @param {unknown} timeout @param {unknown} token
 * @returns {Call}
 * @throws {Refusal}
 */
export function callOf(capability, params, callId, timeout, token) {
  if (typeof capability !== 'string') throw bad('capability', 'it is the name of one');
  if (!isAmount(timeout)) throw bad('options.timeout', MILLISECONDS);
  if (token !== undefined && !isId(token)) throw bad('options.progressToken', TEXT);
  if (!isObject(params)) throw bad('params', 'parameters are an object');
  if (capability.length > MAX_NAME) throw new Refusal(problem('UNKNOWN_CAPABILITY', `There is no capability "${clipped(capability)}…"`));
  return { callId: callId === undefined ? callId : callIdOf(callId), capability, params, timeout, token, by: 0 };
}

// The members that are read.
const ENVELOPE = ['type', 'id', 'payload'];
const AGENT = ['name', 'version'];
const FEATURES = ['notifications', 'progress', 'elicitation'];
const CAPABILITIES = ['allowedRequests'];
const INITIALIZE = ['agent', 'protocolVersion', 'features', 'requestedCapabilities', 'agentCapabilities'];
const CALL = ['capability', 'options', 'params', 'callId'];
const OPTIONS = ['timeout', 'progressToken', 'callId'];
const CANCEL = ['callId', 'reason'];

/** @type {any} */
const NONE = Object.freeze({});

/**
 * @param {any} payload
 * @returns {{ callId: string, reason: string | undefined }}
 * @throws {Refusal}
 */
export function readCancel(payload) {
  const { callId, reason } = bare(payload, CANCEL);
  return { callId: callIdOf(callId), reason: reasonOf(reason) };
}

/**
 * The key of a question, read from the id of its answer. The id must be one of ours.
 *
 * @param {unknown} id
 */
export function questionOf(id) {
  const number = Number(/^elicitation-(\d{1,10})$/.exec(String(id))?.[1]);
  // Nobody waits for an answer under the key 0.
  return number < 2 ** 32 ? number : 0;
}

/** @param {unknown} callId */
function callIdOf(callId) {
  if (typeof callId !== 'string' || callId.length > MAX_NAME) throw new Refusal(BAD_CALL_ID);
  return callId;
}

/** @param {string} path @param {string} rule */
const bad = (path, rule) => new Refusal({ ...invalid(`Bad ${path}: ${rule}`), details: { path } });

/** @param {string} text any text, cut to a length that fits a message */
const clipped = (text) => text.slice(0, 64);
