/**
 * The most frequent messages between two ends of this package, without the names of their parts:
 * copying the envelopes is half of the cost of a small call over a port. The agent announces with its
 * `initialize` that it accepts short messages, and the host announces it with its answer. Messages
 * without a short form are sent unchanged. They are recognised because they are not arrays.
 *
 * | what | short form |
 * |---|---|
 * | a call | `[1, id, capability, params, callId, timeout?, flags?]` |
 * | the response of a call that has completed | `[2, id, data, duration]` |
 * | what the next message is, if it may be one that cannot be deserialised | `[3, type, id]` |
 *
 * If a message cannot be deserialised, its type is unknown unless it was announced before.
 *
 * Here, the id of a call is a number, and its response has the same number: text would have to be
 * hashed on both sides.
 *
 * Any other array is left unchanged, and is then no message: a worker shares its channel with the app.
 */

import { isSimple } from './inspect.js';

/** @import { Envelope } from './messenger.js' */

/** The version of these forms, as `short` in the payloads of `initialize` and its answer. */
export const SHORT = 2;

/** The first elements of the forms. */
const CALL = 1;
const RESULT = 2;
const NEXT = 3;

/** The flags of a call: it wants progress under its callId, and its data may be moved. */
const PROGRESS = 1;
const TRANSFER = 2;

/** @param {Envelope} initialize @returns {Envelope} the same, with the announcement that its agent accepts short messages */
export const announcing = (initialize) => ({ ...initialize, payload: { ...initialize.payload, short: SHORT } });

/** @param {any} payload of an `initialize` or its answer */
export const takesShort = (payload) => payload?.short === SHORT;

/**
 * The announcement before an envelope. Small data of plain JSON needs none.
 *
 * @param {any} envelope
 * @returns {unknown[] | undefined}
 */
export const foretold = ({ type, id, payload }) => (isSimple(payload) ? undefined : [NEXT, type, id]);

/** @param {unknown} message @returns {Envelope | undefined} the announced next message without its payload, if this is an announcement */
export function nextOf(message) {
  if (!Array.isArray(message) || message[0] !== NEXT || message.length !== 3) return undefined;
  return { type: message[1], id: message[2], timestamp: 0, payload: {} };
}

/**
 * @param {Envelope} envelope an agent's
 * @returns {Envelope | unknown[]} its short form, if there is one
 */
export function shortCall(envelope) {
  if (envelope.type !== 'capabilities/call') return envelope;
  const { capability, params, options } = envelope.payload;
  const id = Number(envelope.id);
  const { callId, timeout, progressToken, transfer } = options;
  const flags = (progressToken === undefined ? 0 : PROGRESS) | (transfer ? TRANSFER : 0);
  if (flags) return [CALL, id, capability, params, callId, timeout, flags];
  return timeout === undefined ? [CALL, id, capability, params, callId] : [CALL, id, capability, params, callId, timeout];
}

/**
 * @param {unknown} message an agent's that may be short
 * @returns {any} the envelope, which is then read like any other
 */
export function longCall(message) {
  if (!Array.isArray(message) || message[0] !== CALL || message.length < 5 || message.length > 7) return message;
  const [, id, capability, params, callId, timeout, given] = message;
  const flags = typeof given === 'number' ? given : 0;
  const progressToken = flags & PROGRESS ? callId : undefined;
  const options = { callId, timeout, progressToken, transfer: (flags & TRANSFER) !== 0 };
  return { type: 'capabilities/call', id, timestamp: 0, payload: { capability, params, options } };
}

/**
 * @param {any} envelope a host's
 * @returns {any} its short form, if there is one
 */
export function shortResult(envelope) {
  const { type, id, payload } = envelope;
  return type === 'capabilities/call-result' && payload.success ? [RESULT, id, payload.data, payload.metadata.duration] : envelope;
}

/**
 * @param {unknown} message a host's that may be short
 * @returns {any} the envelope, which is then read like any other
 */
export function longResult(message) {
  if (!Array.isArray(message) || message[0] !== RESULT || message.length !== 4) return message;
  const [, id, data, duration] = message;
  return { type: 'capabilities/call-result', id, timestamp: 0, payload: { success: true, data, metadata: { duration } } };
}
