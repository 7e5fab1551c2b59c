import { callAndCancel, dice } from './caller.mjs';

/** @typedef {import('./caller.mjs').Outcome} Outcome */

/**
 * Makes so many calls, each agent so many at once.
 *
 * @param {object} options
 * @param {string} options.prefix of the callIds
 * @param {number} options.calls
 * @param {number} options.width
 * @param {ReturnType<typeof import('./caller.mjs').keepConnected>[]} options.callers
 * @param {ReturnType<typeof import('./operator.mjs').operatorOf>} options.operator
 * @param {(callId: string) => void} options.confirmed told at once of a cancel that is a fact
 */
export function callEach({ prefix, calls, width, callers, operator, confirmed }) {
  /** @type {Outcome[]} */
  const outcomes = [];
  /** @type {{ at: number, reached: () => void }[]} */
  const watchers = [];
  let last = 0;
  /** @param {typeof callers[0]} caller @param {number} seed */
  const runner = async (caller, seed) => {
    const random = dice(seed);
    while (last < calls) {
      const callId = `${prefix}-${(last += 1)}`;
      outcomes.push(await callAndCancel(callId, await caller.agent(), operator, random, confirmed));
      for (const { at, reached } of watchers) if (outcomes.length >= at) reached();
    }
  };
  const all = Promise.all(callers.flatMap((caller, index) => Array.from({ length: width }, (_, nth) => runner(caller, 1 + index * width + nth))));
  return {
    /** Grows as they settle. */
    outcomes,
    all,
    /** Resolves when so many have settled. @param {number} at */
    settled: (at) => new Promise((/** @type {(value: void) => void} */ reached) => {
      watchers.push({ at, reached });
      if (outcomes.length >= at) reached();
    }),
  };
}
