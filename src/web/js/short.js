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

import { isSimple } from './plain.js';

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

/** @param {any} message @returns {boolean} whether it opens a session, and its sender accepts short messages */
export const opensShort = (message) => (message?.type === 'initialize' || message?.type === 'initialize-result') && takesShort(message.payload);

/**
 * The announcement before a message that may be one that cannot be deserialised.
 *
 * @param {string} type
 * @param {unknown} id
 */
export const announcement = (type, id) => [NEXT, type, id];

/**
 * The announcement before an envelope. Small data of plain JSON needs none.
 *
 * @param {any} envelope
 * @returns {unknown[] | undefined}
 */
export const foretold = ({ type, id, payload }) => (isSimple(payload) ? undefined : announcement(type, id));

/** @param {unknown} message @returns {Envelope | undefined} the announced next message without its payload, if this is an announcement */
export function nextOf(message) {
  if (!Array.isArray(message) || message[0] !== NEXT || message.length !== 3) return undefined;
  return { type: message[1], id: message[2], timestamp: 0, payload: {} };
}

/**
 * @param {number} id
 * @param {{ capability: string, params: object, options: any }} payload of a call
 * @returns {unknown[]} its short form
 */
export function shortCall(id, { capability, params, options: { callId, timeout, progressToken, transfer } }) {
  const flags = (progressToken === undefined ? 0 : PROGRESS) | (transfer ? TRANSFER : 0);
  if (flags) return [CALL, id, capability, params, callId, timeout, flags];
  return timeout === undefined ? [CALL, id, capability, params, callId] : [CALL, id, capability, params, callId, timeout];
}

/** @param {unknown[]} message an agent's @returns {boolean} whether it is a call */
export const isShortCall = (message) => message[0] === CALL && message.length >= 5 && message.length <= 7;

/** @param {any[]} call in its short form @returns {unknown} the token of its progress, if it has one */
export const tokenOf = (call) => (typeof call[6] === 'number' && call[6] & PROGRESS ? call[4] : undefined);

/**
 * @param {any[]} call in its short form
 * @returns {any} the envelope, for its refusal
 */
export const longCall = ([, id, capability, params, callId]) => ({ type: 'capabilities/call', id, timestamp: 0, payload: { capability, params, callId } });

/**
 * @param {unknown} id
 * @param {unknown} data of a call that has completed
 * @param {number} duration
 */
export const shortResult = (id, data, duration) => [RESULT, id, data, duration];

/** @param {unknown[]} message a host's @returns {boolean} whether it is the response of a call that has completed */
export const isShortResult = (message) => message[0] === RESULT && message.length === 4;

/**
 * @param {any[]} result in its short form
 * @returns {any} the envelope, for an agent that reads no short forms
 */
export const longResult = ([, id, data, duration]) => ({ type: 'capabilities/call-result', id, timestamp: 0, payload: completed(data, duration) });

/** @param {unknown} data @param {unknown} duration @returns {object} the ABPResponse */
export const completed = (data, duration) => ({ success: true, data, metadata: { duration } });
