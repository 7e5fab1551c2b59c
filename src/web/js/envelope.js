/**
 * The payloads of the Agentic Browser Protocol that both a host and an agent write: an agent that loses its host
 * answers its own calls.
 */

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
