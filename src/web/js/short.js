/**
 * The messages that two ends of ours exchange most, without the names of their parts: half of what
 * a small call costs over a port is the copying of its envelopes. The agent announces with its
 * `initialize` that it takes them, and the host with its answer. Whatever has no short form goes as
 * it is, and is told apart by not being an array.
 *
 * | what | short form |
 * |---|---|
 * | a call | `[1, id, capability, params, callId, timeout?, flags?]` |
 * | the response of a call that has completed | `[2, id, data, duration]` |
 * | what the next message is, if it may be one that cannot be deserialised | `[3, type, id]` |
 *
 * Of a message that could not be, nobody can tell what it was, unless that was said before.
 *
 * The id of a call is a number here, and that of its response is the same: text would have to be
 * hashed on both sides.
 *
 * An array that is none of these is left as it is, which is no message: a worker shares its channel
 * with the app.
 */

import { isSimple } from './inspect.js';

/** @import { Envelope } from './messenger.js' */

/** As `short` in the payloads of `initialize` and its answer: the version of these forms. */
export const SHORT = 2;

/** What stands first. */
const CALL = 1;
const RESULT = 2;
const NEXT = 3;

/** Flags of a call: it wants progress under its callId, and its data moved. */
const PROGRESS = 1;
const TRANSFER = 2;

/** @param {Envelope} initialize @returns {Envelope} the same, saying that its agent takes short messages */
export const announcing = (initialize) => ({ ...initialize, payload: { ...initialize.payload, short: SHORT } });

/** @param {any} payload of an `initialize` or its answer */
export const takesShort = (payload) => payload?.short === SHORT;

/**
 * What is to be said before an envelope. Small data of plain JSON needs nothing.
 *
 * @param {any} envelope
 * @returns {unknown[] | undefined}
 */
export const foretold = ({ type, id, payload }) => (isSimple(payload) ? undefined : [NEXT, type, id]);

/** @param {unknown} message @returns {Envelope | undefined} the next message without its payload, if that is what it says */
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
 * @returns {any} the envelope, to be read as any other
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
 * @returns {any} the envelope, to be read as any other
 */
export function longResult(message) {
  if (!Array.isArray(message) || message[0] !== RESULT || message.length !== 4) return message;
  const [, id, data, duration] = message;
  return { type: 'capabilities/call-result', id, timestamp: 0, payload: { success: true, data, metadata: { duration } } };
}
