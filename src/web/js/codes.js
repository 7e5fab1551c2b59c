/**
 * The error codes whose requests may succeed when they are made again. Written by a test of
 * `src/call/error.rs`, where the table of all is.
 */
export const RETRYABLE = [
  'NOT_INITIALIZED',
  'SESSION_EXPIRED',
  'SESSION_INVALID',
  'CAPABILITY_UNAVAILABLE',
  'PERMISSION_REQUIRED',
  'TIMEOUT',
  'RATE_LIMITED',
  'TRANSPORT_ERROR',
  'DISCONNECTED',
];
