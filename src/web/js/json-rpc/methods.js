/**
 * Methods of JSON-RPC.
 * Written by a test, from `src/dialect/json_rpc.rs`.
 */

/** Opens the session. */
export const INITIALIZE = 'initialize';

/** Ends the session. */
export const SHUTDOWN = 'shutdown';

/** Ends the connection. */
export const EXIT = 'exit';

/** caphost's own: `{}` to `{ capabilities: [Capability] }`. */
export const LIST = '_capabilities/list';

/** caphost's own: `{ capability, params?, options? }` to `{ data, metadata? }`. */
export const CALL = '_capabilities/call';

/** caphost's own: `{ requestId, callId, success, after }`. */
export const ENDED = '_capabilities/ended';

/** `{ token, value }`. */
export const PROGRESS = '$/progress';
