/**
 * Writes the Agentic Browser Protocol for a host: the payloads of the messages that it sends.
 */
import { STATES } from './states.js';

/** @param {number} state */
export const stateName = (state) => STATES[state];

/** @param {number} state */
export const hasCompleted = (state) => stateName(state) === 'completed';

/**
 * The part of a response that describes a stop.
 *
 * @param {any} stop how far it was seen: `never-started`, `dropped`, `returned`, `terminated` or
 *   `abandoned`; or that with the step that stopped it, `{ stop, step, took }`
 */
const metadataOf = (stop) => (typeof stop === 'string' ? { stop } : { ...stop, took: rounded(stop.took) });

/**
 * A cancelled response. It says only that, and how far the call was seen to stop.
 *
 * @param {unknown} stop
 */
export const cancelled = (stop) => ({ success: false, cancelled: true, metadata: metadataOf(stop) });

/**
 * How the handler of an abandoned call ended.
 *
 * @param {boolean} success
 * @param {number} after milliseconds from the end of the call
 */
export const lateEnd = (success, after) => ({ success, after: rounded(after) });

/**
 * The data of the notification `notifications/call/ended`.
 *
 * @param {string} callId
 * @param {boolean} success
 * @param {number} after
 */
export const callEnded = (callId, success, after) => ({ callId, ...lateEnd(success, after) });

/**
 * An ABPError.
 *
 * @param {string} code
 * @param {string} message
 * @param {boolean} retryable
 * @param {number} retryAfter NaN for none
 * @param {unknown} details
 */
export const errorOf = (code, message, retryable, retryAfter, details) => ({
  code,
  message,
  retryable,
  ...(details !== undefined && { details }),
  ...(retryAfter >= 0 && { retryAfter }),
});

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

/** @param {number} milliseconds */
export const rounded = (milliseconds) => Math.round(milliseconds * 1000) / 1000;

/**
 * A CancelResponse of a call that was cancelled.
 *
 * @param {unknown} callId exactly as in the request
 * @param {unknown} stop
 * @param {object} [ended] how the handler of an abandoned call has ended since
 */
export const cancelConfirmation = (callId, stop, ended) => ({
  callId,
  cancelled: true,
  metadata: { ...metadataOf(stop), ...(ended && { ended }) },
});

/**
 * A CancelResponse of a call that was not cancelled.
 *
 * @param {unknown} callId exactly as in the request
 * @param {string | undefined} reason why the call was not cancelled
 * @param {object} [error]
 */
export const cancelResponse = (callId, reason, error) => ({
  callId,
  cancelled: false,
  ...(reason && { reason }),
  ...(error && { error }),
});

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
      if (document[field] !== undefined) summary[field] = document[field];
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
