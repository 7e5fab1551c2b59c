/**
 * Messages that no agent should send, and the type and code of their answers.
 *
 * @typedef {object} Malformed
 * @property {string} name
 * @property {string} message the source of the message: JSON, except for `id` and values that only a structured clone carries
 * @property {[string, string] | null} answer the type and code of the answer; null for no answer
 * @property {null} [window] no answer on a window, because a window receives many unrelated messages
 */

const call = (/** @type {string} */ payload) => `{ type: 'capabilities/call', id, timestamp: 0, payload: ${payload} }`;
const cancel = (/** @type {string} */ payload) => `{ type: 'capabilities/cancel', id, timestamp: 0, payload: ${payload} }`;
const initialize = (/** @type {string} */ payload) => `{ type: 'initialize', id, timestamp: 0, payload: ${payload} }`;

const CALLED = 'capabilities/call-result';
const CANCELLED = 'capabilities/cancel-result';
const INVALID = 'INVALID_PARAMS';

/** @type {[string, string, [string, string] | null, null?][]} */
const table = [
  ['null', 'null', ['error', INVALID], null],
  ['a number', '7', ['error', INVALID], null],
  ['text', `'initialize'`, ['error', INVALID], null],
  ['an array', '[]', ['error', INVALID], null],
  ['an empty object', '{}', ['error', INVALID], null],
  ['a type that is no string', '{ type: 7, id, timestamp: 0, payload: {} }', ['error', INVALID], null],
  ['an unknown type', `{ type: 'capabilities/frobnicate', id, timestamp: 0, payload: {} }`, ['error', 'NOT_IMPLEMENTED']],
  ['a very long type', `{ type: 'x'.repeat(100000), id, timestamp: 0, payload: {} }`, ['error', 'NOT_IMPLEMENTED']],
  ['the type __proto__', `{ type: '__proto__', id, timestamp: 0, payload: {} }`, ['error', 'NOT_IMPLEMENTED']],
  ['an id that is an object', `{ type: 'capabilities/call', id: {}, timestamp: 0, payload: { capability: 'test.echo' } }`, [CALLED, INVALID]],
  ['a call without payload', `{ type: 'capabilities/call', id, timestamp: 0 }`, [CALLED, INVALID]],
  ['a call with null for payload', call('null'), [CALLED, INVALID]],
  ['a call with text for payload', call(`'x'`), [CALLED, INVALID]],
  ['a call with an array for payload', call('[]'), [CALLED, INVALID]],
  ['a call of nothing', call('{}'), [CALLED, INVALID]],
  ['a call of a number', call('{ capability: 7 }'), [CALLED, INVALID]],
  ['a call of an unknown capability', call(`{ capability: 'nothing' }`), [CALLED, 'UNKNOWN_CAPABILITY']],
  ['a call of __proto__', call(`{ capability: '__proto__' }`), [CALLED, 'UNKNOWN_CAPABILITY']],
  ['params that are null', call(`{ capability: 'test.echo', params: null }`), [CALLED, INVALID]],
  ['params that are text', call(`{ capability: 'test.echo', params: 'x' }`), [CALLED, INVALID]],
  ['params that are an array', call(`{ capability: 'test.echo', params: [] }`), [CALLED, INVALID]],
  ['params that fail the schema', call(`{ capability: 'test.checked', params: { text: 7 } }`), [CALLED, 'INVALID_TYPE']],
  ['params that lack one', call(`{ capability: 'test.checked', params: {} }`), [CALLED, 'MISSING_PARAM']],
  ['options that are text', call(`{ capability: 'test.echo', options: 'x' }`), [CALLED, INVALID]],
  ['options that are an array', call(`{ capability: 'test.echo', options: [] }`), [CALLED, INVALID]],
  ['an empty callId', call(`{ capability: 'test.echo', options: { callId: '' } }`), [CALLED, INVALID]],
  ['a callId of 10 000 characters', call(`{ capability: 'test.echo', options: { callId: 'x'.repeat(10000) } }`), [CALLED, INVALID]],
  ['a callId that is a number', call(`{ capability: 'test.echo', options: { callId: 7 } }`), [CALLED, INVALID]],
  ['a callId that is null', call(`{ capability: 'test.echo', callId: null }`), [CALLED, INVALID]],
  ['a callId with a line break', call(`{ capability: 'test.echo', options: { callId: 'a\\nb' } }`), [CALLED, INVALID]],
  ['a callId in flight', call(`{ capability: 'test.echo', options: { callId: 'held' } }`), [CALLED, INVALID]],
  ['a negative timeout', call(`{ capability: 'test.echo', options: { timeout: -1 } }`), [CALLED, INVALID]],
  ['a timeout that is NaN', call(`{ capability: 'test.echo', options: { timeout: NaN } }`), [CALLED, INVALID]],
  ['a timeout that is text', call(`{ capability: 'test.echo', options: { timeout: '100' } }`), [CALLED, INVALID]],
  ['a progress token that is an object', call(`{ capability: 'test.echo', options: { progressToken: {} } }`), [CALLED, INVALID]],
  ['more levels of nesting than allowed', call(`{ capability: 'test.echo', params: Array.from({ length: 1000 }).reduce((it) => ({ it }), {}) }`), [CALLED, INVALID]],
  ['as many nested arrays', call(`{ capability: 'test.echo', params: { it: Array.from({ length: 1000 }).reduce((it) => [it], []) } }`), [CALLED, INVALID]],
  ['more than 16 MiB', call(`{ capability: 'test.echo', params: { text: 'x'.repeat(16 << 20) } }`), [CALLED, INVALID]],
  ['more than 16 MiB in pieces', call(`{ capability: 'test.echo', params: { list: Array(200).fill('x'.repeat(1 << 17)) } }`), [CALLED, INVALID]],
  ['a cancel without payload', `{ type: 'capabilities/cancel', id, timestamp: 0 }`, [CANCELLED, INVALID]],
  ['a cancel of nothing', cancel('{}'), [CANCELLED, INVALID]],
  ['a cancel of a number', cancel('{ callId: 7 }'), [CANCELLED, INVALID]],
  ['a cancel of null', cancel('{ callId: null }'), [CANCELLED, INVALID]],
  ['a cancel of an empty callId', cancel(`{ callId: '' }`), [CANCELLED, INVALID]],
  ['a cancel of 10 000 characters', cancel(`{ callId: 'x'.repeat(10000) }`), [CANCELLED, INVALID]],
  ['a second initialize', initialize(`{ agent: { name: 'x', version: '1' }, protocolVersion: '0.1' }`), ['initialize-result', 'ALREADY_INITIALIZED']],
  ['an initialize with nothing', initialize('{}'), ['initialize-result', INVALID]],
  ['an initialize of another version', initialize(`{ agent: { name: 'x', version: '1' }, protocolVersion: '2' }`), ['initialize-result', 'NOT_SUPPORTED']],
  ['an answer to no question', `{ type: 'elicitation/response', id: 'elicitation-7', timestamp: 0, payload: { success: true } }`, null],
  ['an answer with a strange id', `{ type: 'elicitation/response', id: 'x', timestamp: 0, payload: { success: true } }`, null],
  ['an answer that is no object', `{ type: 'elicitation/response', id, timestamp: 0, payload: 'yes' }`, ['error', INVALID]],
  ['what only an app says', `{ type: 'capabilities/call-result', id, timestamp: 0, payload: {} }`, ['error', 'NOT_IMPLEMENTED'], null],
  ['an error', `{ type: 'error', id, timestamp: 0, payload: { success: false, error: { code: 'NOT_IMPLEMENTED', message: '', retryable: false } } }`, null],
  ['an error without an id', `{ type: 'error', id: null, timestamp: 0, payload: {} }`, null],
];

/** @type {Malformed[]} */
export const malformed = table.map(([name, message, answer, ...window]) => ({ name, message, answer, ...(window.length > 0 && { window: null }) }));
