import { isPlain } from './inspect.js';
import { transferables } from './transfer.js';

/**
 * Parameters as they are when the call is made: it is sent a moment later.
 *
 * @param {object} params
 * @param {Transferable[]} [transfer] what is moved out of the caller's hands
 * @returns {{ params: object, transfer?: Transferable[] }}
 * @throws {DOMException} for what cannot be cloned
 */
export function snapshot(params, transfer) {
  if (transfer?.length) return structuredClone({ params, transfer }, { transfer });
  return { params: isFlat(params) ? { ...params } : structuredClone(params) };
}

/**
 * Parameters of a call within the page, which no transport copies: what has passed the schema is
 * what the handler gets. As over a transport, what can only be moved is moved.
 *
 * @param {object} params
 * @returns {object}
 * @throws {DOMException} for what cannot be cloned
 */
export const copied = (params) => (isFlat(params) ? { ...params } : structuredClone(params, { transfer: transferables(params, false) }));

const COMPOUND = ['object', 'function', 'symbol'];

/** @param {object} params */
const isFlat = (params) => isPlain(params) && Object.values(params).every((value) => value === null || !COMPOUND.includes(typeof value));
