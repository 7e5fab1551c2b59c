/** @import { Call } from './call-history.js' */

const MAX_RESULTS = 24;
const MAX_WEIGHT = 96e6;
const FREE_WEIGHT = 10_000;

/** Keeps the data of the newest results, and drops older data once there is too much of it. */
export class ResultBudget {
  /** Bytes held by each call, oldest first. @type {Map<Call, number>} */
  #held = new Map();
  #weight = 0;

  /**
   * @param {Call} call just answered
   * @returns {Call[]} the calls whose data was dropped to make room
   */
  keep(call) {
    this.forget(call);
    const weight = weigh(call.response?.data);
    if (weight <= FREE_WEIGHT) return [];
    this.#held.set(call, weight);
    this.#weight += weight;
    const dropped = [];
    for (const oldest of this.#held.keys()) {
      const fits = this.#held.size <= MAX_RESULTS && this.#weight <= MAX_WEIGHT;
      if (fits || oldest === call) break;
      this.forget(oldest);
      if (oldest.response) oldest.response = { ...oldest.response, data: undefined };
      oldest.released = true;
      dropped.push(oldest);
    }
    return dropped;
  }

  /** @param {Call} call */
  forget(call) {
    this.#weight -= this.#held.get(call) ?? 0;
    this.#held.delete(call);
  }
}

/**
 * Estimates the bytes that a result holds from the first entries of each level.
 * @param {unknown} value
 * @param {number} [depth]
 * @returns {number}
 */
function weigh(value, depth = 0) {
  if (typeof value === 'string') return value.length;
  if (value === null || typeof value !== 'object') return 8;
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return value.byteLength;
  if (value instanceof Blob) return value.size;
  if (depth > 3) return 0;
  if (Array.isArray(value)) return value.slice(0, 64).reduce((sum, item) => sum + weigh(item, depth + 1), 0);
  let weight = 0;
  let entries = 0;
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    weight += weigh(/** @type {Record<string, unknown>} */ (value)[key], depth + 1);
    if (++entries === 64) break;
  }
  return weight;
}
