/**
 * Writes the Agentic Browser Protocol for a host: the payloads of the messages that only a host sends.
 */
import { cancelResponse, cancelled, lateEnd, rounded } from './envelope.js';
import { get } from './read.js';
import { STATES } from './states.js';

/** @param {number} state */
export const stateName = (state) => STATES[state];

/** @param {number} state */
export const hasCompleted = (state) => stateName(state) === 'completed';

/**
 * The data of the notification `notifications/call/ended`.
 *
 * @param {string} callId
 * @param {boolean} success
 * @param {number} after
 */
export const callEnded = (callId, success, after) => ({ callId, ...lateEnd(success, after) });

/**
 * An ABPResponse.
 *
 * @param {number} state in which the call has ended
 * @param {unknown} value its data, its error, or how far it was seen to stop
 * @param {number} duration in milliseconds; NaN for a call that was refused
 */
export function response(state, value, duration) {
  const name = stateName(state);
  if (name === 'cancelled') return cancelled(value);
  /** @type {{ success: boolean, data?: unknown, error?: unknown, metadata?: object }} */
  const ended = name === 'failed' ? { success: false, error: value } : { success: true, data: value };
  if (duration >= 0) ended.metadata = { duration: rounded(duration) };
  return ended;
}

/**
 * The list of capabilities in an `initialize-result`.
 *
 * @param {any[]} documents
 */
export const summaries = (documents) =>
  documents.map((document) => {
    /** @type {Record<string, unknown>} */
    const summary = {};
    for (const field of ['name', 'available', 'experimental', 'deprecated']) {
      const value = get(document, field);
      if (value !== undefined) summary[field] = value;
    }
    return summary;
  });

/**
 * The progress that a Rust capability reports. Made in one call, as a handler may report in an inner
 * loop.
 *
 * @param {number} progress
 * @param {number} total
 * @param {string} [stage]
 * @param {string} [status]
 * @param {number} [estimatedRemaining] in milliseconds
 */
export const progressOf = (progress, total, stage, status, estimatedRemaining) => ({
  progress,
  total,
  ...(stage !== undefined && { stage }),
  ...(status !== undefined && { status }),
  ...(estimatedRemaining !== undefined && { estimatedRemaining }),
});

/**
 * A ProgressInfo: the handler's report, under the name of the operation.
 *
 * @param {unknown} operationId
 * @param {any} info
 */
export function progressInfo(operationId, info) {
  const { percentage, progress, total } = info;
  // 7 of 100 must give 7 %, not 7.000000000000001.
  const share = () => Math.round((progress / total) * 1e8) / 1e6;
  const known = [progress, total].every((it) => typeof it === 'number') && total > 0;
  return {
    ...info,
    operationId,
    ...(typeof percentage !== 'number' && known && { percentage: Math.min(100, Math.max(0, share())) }),
  };
}

/**
 * The answer to a message that could not be understood: the typed reply if the type is known.
 *
 * @param {unknown} type
 * @param {unknown} callId
 * @param {{ message: string }} error
 * @returns {[type: string, payload: object]}
 */
export function refusal(type, callId, error) {
  // The value may be anything, and of any length.
  if (typeof callId === 'string') callId = callId.slice(0, 128);
  else if (typeof callId !== 'number') callId = null;
  if (type === 'capabilities/cancel') return [`${type}-result`, cancelResponse(callId, error.message, error)];
  if (type === 'initialize' || type === 'capabilities/list') return [`${type}-result`, { error }];
  return [type === 'capabilities/call' ? `${type}-result` : 'error', { success: false, error }];
}
