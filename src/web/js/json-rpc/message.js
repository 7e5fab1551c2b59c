/**
 * Reads and writes messages of JSON-RPC 2.0. `gateway/src/wire/json_rpc` does the same, by the same
 * vectors.
 */
import { CANCELLED, FAILED, INTERNAL_ERROR, INVALID_PARAMS } from './codes.js';
import { keyOf } from './policy.js';

/** The faults of an invalid message. */
export const FAULTS = {
  object: 'A message is an object',
  version: 'A message has jsonrpc: "2.0"',
  method: 'A request has a method, which is a string',
  id: 'An id is a string, a number or null',
  params: 'Parameters are an object or an array',
  batch: 'Batches are not supported: send each by itself',
};

/** @param {unknown} value */
export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * @typedef {{ kind: 'request', id: any, method: string, params: any }
 *   | { kind: 'notification', method: string, params: any }
 *   | { kind: 'response', id: any, result?: any, error?: any }
 *   | { kind: 'invalid', id: any, fault: keyof typeof FAULTS }} Message
 *
 * @typedef {{ code: number, message: string, data?: any }} RpcError
 */

/**
 * Reads one message. A message with a result or an error, but without a method, counts as a response
 * even if it is malformed: an error is never answered with an error.
 *
 * @param {any} message
 * @returns {Message}
 */
export function read(message) {
  if (!isObject(message)) return { kind: 'invalid', id: null, fault: Array.isArray(message) ? 'batch' : 'object' };
  const { jsonrpc, id, method, params, result, error } = message;
  const readable = keyOf(id) !== undefined;
  const invalid = (/** @type {keyof typeof FAULTS} */ fault) => /** @type {const} */ ({ kind: 'invalid', id: readable ? id : null, fault });
  if (method === undefined) {
    if (error !== undefined) return { kind: 'response', id, error };
    if (result !== undefined) return { kind: 'response', id, result };
  }
  if (jsonrpc !== '2.0') return invalid('version');
  if (typeof method !== 'string') return invalid('method');
  if (id !== undefined && !readable) return invalid('id');
  const given = typeof params === 'object' ? (params ?? undefined) : undefined;
  // A faulty notification is not answered.
  if (id === undefined) return { kind: 'notification', method, params: given };
  return params != null && !given ? invalid('params') : { kind: 'request', id, method, params: given };
}

/** @type {Record<string, number>} */
const CODES = {
  INVALID_PARAMS,
  MISSING_PARAM: INVALID_PARAMS,
  INVALID_TYPE: INVALID_PARAMS,
  UNKNOWN_CAPABILITY: INVALID_PARAMS,
  INTERNAL_ERROR,
  CANCELLED,
};

/** The code for an ABP error code. @param {string} abp */
export const codeFor = (abp) => (Object.hasOwn(CODES, abp) ? /** @type {number} */ (CODES[abp]) : FAILED);

/** The fields of an ABPError that go into the `data` of an error. Its message goes beside `data`. */
const IN_DATA = ['code', 'retryable', 'details', 'retryAfter', 'alternatives'];

/**
 * The error object of an ABPError.
 *
 * @param {any} error
 * @param {number} [code]
 * @returns {RpcError}
 */
export function rpcError(error, code = codeFor(error.code)) {
  const kept = IN_DATA.filter((field) => error[field] !== undefined);
  return { code, message: error.message, data: Object.fromEntries(kept.map((field) => [field, error[field]])) };
}

/**
 * The error of a cancelled request, no matter who cancelled it.
 *
 * @param {unknown} id
 * @param {string} capability
 * @param {{ stop: string, step?: string, took?: number }} seen how far the call was seen to stop, and the known details
 * @returns {RpcError}
 */
export function cancelledError(id, capability, seen) {
  const requestId = typeof id === 'string' ? id : JSON.stringify(id);
  const data = { code: 'CANCELLED', retryable: false, requestId, partial: false, ...seen };
  return { code: CANCELLED, message: `Tool execution cancelled: ${capability}`, data };
}

/**
 * The answer to a call.
 *
 * @param {any} id
 * @param {string} capability
 * @param {any} payload an ABPResponse
 * @param {(error: any) => { result?: any, error?: any }} failed
 * @param {(data: any, metadata: any) => any} done
 */
export function answerCall(id, capability, payload, failed, done) {
  // A page may have given every object such members.
  if (Object.hasOwn(payload, 'cancelled') && payload.cancelled) return { error: cancelledError(id, capability, payload.metadata) };
  return Object.hasOwn(payload, 'error') && payload.error ? failed(payload.error) : { result: done(payload.data, payload.metadata) };
}
