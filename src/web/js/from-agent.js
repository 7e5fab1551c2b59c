/**
 * How a host reads the Agentic Browser Protocol. What a message must look like stands here, in the
 * words of `src/dialect/abp/from_agent.rs`; what is to come of it is decided in Rust.
 */
import { BAD_CALL_ID, invalid, problem } from './errors.js';
import { failureOf } from './failure-of.js';
import { newId } from './platform.js';
import { get, getA, kindOf } from './read.js';

/**
 * What a property must be, and how that is said to whoever got it wrong.
 *
 * @typedef {[path: string, kinds: string, rule: string]} Rule
 *
 * @typedef {[method: string, ...args: unknown[]]} Message as Rust takes it, after the connection
 */

/** @type {Rule[]} */
const ENVELOPE = [
  ['type', 'string', 'a message has a type, which is a string'],
  ['id', 'undefined string number', 'an id is a string or a number'],
];

/** @type {Rule[]} */
const PAYLOAD = [['payload', 'object', 'the payload is an object']];

/**
 * A capability has no longer name, and what is longer is not copied into the memory of Rust: a
 * callId has no more characters either.
 */
const MAX_NAME = 256;

const TEXT = 'it is a string';
const FLAG = 'it is a boolean';

/** @type {Rule[]} */
const INITIALIZE = [
  ['agent', 'object', 'the agent is {name, version}'],
  ['agent.name', 'string', TEXT],
  ['agent.version', 'string', TEXT],
  ['protocolVersion', 'string', TEXT],
  ['features', 'undefined object', 'it is an object of booleans'],
  ['features.notifications', 'undefined boolean', FLAG],
  ['features.progress', 'undefined boolean', FLAG],
  ['features.elicitation', 'undefined boolean', FLAG],
  ['requestedCapabilities', 'undefined array', 'it is an array of names'],
];

const TIMEOUT = 'it is a number of milliseconds, not negative';

/** @type {Rule[]} */
const CALL = [
  ['capability', 'string', 'it is the name of one'],
  ['options', 'undefined object', 'it is an object'],
  ['options.timeout', 'undefined number', TIMEOUT],
  ['options.progressToken', 'undefined string number', TEXT],
  ['params', 'undefined object', 'parameters are an object'],
];

/**
 * Reads one envelope.
 *
 * @param {unknown} envelope
 * @returns {Message}
 * @throws {import('./errors.js').AbpError} for what is no message
 */
export function readFromAgent(envelope) {
  if (kindOf(envelope) !== 'object') throw invalid('A message is an object {type, id, timestamp, payload}');
  const [type, id] = expect(envelope, ENVELOPE);
  if (type === 'shutdown') {
    return ['shutdown', id, reasonOf(envelope, 'payload.reason')];
  }
  const read = READERS.get(type);
  if (!read) throw problem('NOT_IMPLEMENTED', `There is no message type "${clipped(type)}"`);
  return read(expect(envelope, PAYLOAD)[0], id);
}

/** @type {Map<string, (payload: any, id: any) => Message>} */
const READERS = new Map([
  ['initialize', initialize],
  ['capabilities/call', (payload, id) => ['call', id, ...readCall(payload)]],
  ['capabilities/cancel', (payload, id) => ['cancel', id, textOf(payload, 'callId'), reasonOf(payload, 'reason')]],
  ['elicitation/response', answer],
]);

/**
 * Features that are not mentioned are taken as wished for, except questions: an agent must say that
 * it answers those.
 *
 * @param {any} params
 * @param {unknown} id
 * @returns {Message}
 */
function initialize(params, id) {
  const [, name, ofAgent, version, , ...features] = expect(params, INITIALIZE);
  if (version !== '0.1') {
    throw problem('NOT_SUPPORTED', `Protocol version "${clipped(version)}" is not supported; this host speaks "0.1"`);
  }
  const [notifications = true, progress = true, elicitation = false] = features;
  return ['initialize', id, newId(), name.slice(0, MAX_NAME), ofAgent.slice(0, MAX_NAME), notifications, progress, elicitation];
}

/**
 * @param {any} payload of a call
 * @returns {[callId: string, capability: string, params: object, timeout: number, token: unknown]} as Rust takes it
 * @throws {import('./errors.js').AbpError}
 */
export function readCall(payload) {
  const [capability, , timeout = Infinity, token, params = {}] = expect(payload, CALL);
  if (capability.length > MAX_NAME) throw problem('UNKNOWN_CAPABILITY', `There is no capability "${clipped(capability)}…"`);
  const path = get(payload, 'options.callId') === undefined ? 'callId' : 'options.callId';
  const callId = get(payload, path) === undefined ? newId() : textOf(payload, path);
  if (!(timeout >= 0)) throw bad('options.timeout', TIMEOUT);
  return [callId, capability, params, timeout, token];
}

/**
 * The answer to a question, which has an id of ours.
 *
 * @param {any} payload
 * @param {unknown} id
 * @returns {Message}
 */
function answer(payload, id) {
  const number = Number(/^elicitation-(\d{1,10})$/.exec(String(id))?.[1]);
  // Nobody waits for an answer to 0.
  const key = number < 2 ** 32 ? number : 0;
  if (get(payload, 'success') === true) return ['answered', key, get(payload, 'data')];
  const cancelled = get(payload, 'cancelled') === true && { code: 'CANCELLED' };
  const error = cancelled || (get(payload, 'error') ?? { message: 'The agent did not answer the question' });
  return ['fail', key, false, ...failureOf(error)];
}

/**
 * @param {unknown} object
 * @param {Rule[]} rules
 * @returns {any[]} what stands there, each read once
 */
function expect(object, rules) {
  return rules.map(([path, kinds, rule]) => {
    const value = get(object, path);
    if (!kinds.split(' ').includes(kindOf(value))) throw bad(path, rule);
    return value;
  });
}

/** @param {unknown} payload @param {string} path of a callId */
function textOf(payload, path) {
  const callId = getA('string', payload, path);
  if (callId === undefined || callId.length > MAX_NAME) throw BAD_CALL_ID;
  return callId;
}

/** @param {unknown} object @param {string} path of a reason, which Rust shortens further */
const reasonOf = (object, path) => getA('string', object, path)?.slice(0, 4096);

/** @param {string} path @param {string} rule */
const bad = (path, rule) => ({ ...invalid(`Bad ${path}: ${rule}`), details: { path } });

/** @param {string} text of anybody's, as far as it fits into a message */
const clipped = (text) => text.slice(0, 64);
