/**
 * Codes of JSON-RPC errors.
 * Written by a test, from `src/dialect/json_rpc.rs`.
 */

/** The message is no JSON. */
export const PARSE_ERROR = -32700;

/** The message is no request. */
export const INVALID_REQUEST = -32600;

/** There is no such method. */
export const METHOD_NOT_FOUND = -32601;

/** The parameters do not fit. */
export const INVALID_PARAMS = -32602;

/** The receiver itself has failed. */
export const INTERNAL_ERROR = -32603;

/** An error of the app or the gateway. `data.code` has the ABP code. */
export const FAILED = -32000;

/** MCP servers commonly answer this when something is not found. */
export const NOT_FOUND = -32001;

/** MCP: a header and the body contradict each other. */
export const HEADER_MISMATCH = -32020;

/** MCP: the version is not spoken. */
export const UNSUPPORTED_VERSION = -32022;

/** LSP and ACP: the request was cancelled. */
export const CANCELLED = -32800;
