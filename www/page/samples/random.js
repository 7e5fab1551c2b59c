/**
 * A small seeded generator (mulberry32), so that a sample of the same size is always the same text.
 * @param {number} seed
 */
export function random(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    /**
     * @param {number} from
     * @param {number} to inclusive
     */
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    /**
     * @template T
     * @param {readonly [T, ...T[]]} list
     */
    pick: (list) => /** @type {T} */ (list[Math.floor(next() * list.length)]),
  };
}

/** @typedef {ReturnType<typeof random>} Random */
