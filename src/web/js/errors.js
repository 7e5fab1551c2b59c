/**
 * @param {string} code
 * @param {string} message
 * @param {boolean} [retryable]
 * @returns {Error & { code: string, retryable: boolean }}
 */
export const abpError = (code, message, retryable = code === 'DISCONNECTED' || code === 'TIMEOUT') =>
  Object.assign(new Error(message), { code, retryable });

/**
 * An ABPResponse that says so.
 *
 * @param {string} code
 * @param {string} message
 */
export const failure = (code, message) => ({ success: false, error: { code, message, retryable: false } });
