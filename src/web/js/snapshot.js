import { isPlain } from './inspect.js';

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
  const flat = isPlain(params) && Object.values(params).every((value) => value === null || !COMPOUND.includes(typeof value));
  return { params: flat ? { ...params } : structuredClone(params) };
}

const COMPOUND = ['object', 'function', 'symbol'];
