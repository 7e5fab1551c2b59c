import { callAndCancel, dice } from './caller.mjs';

/** @typedef {import('./caller.mjs').Outcome & { caller: number }} Outcome */

/**
 * Makes this many calls. Each agent has `width` calls in flight at once.
 *
 * @param {object} options
 * @param {string} options.prefix of the callIds
 * @param {number} options.calls
 * @param {number} options.width
 * @param {ReturnType<typeof import('./caller.mjs').keepConnected>[]} options.callers
 * @param {ReturnType<typeof import('./operator.mjs').operatorOf>} options.operator
 * @param {(callId: string) => void} options.confirmed called at once when a cancel is confirmed
 */
export function callEach({ prefix, calls, width, callers, operator, confirmed }) {
  /** @type {Outcome[]} */
  const outcomes = [];
  /** @type {{ at: number, reached: () => void }[]} */
  const watchers = [];
  let last = 0;
  /** @param {number} caller @param {number} seed */
  const runner = async (caller, seed) => {
    const random = dice(seed);
    while (last < calls) {
      const callId = `${prefix}-${(last += 1)}`;
      const agent = await /** @type {typeof callers[0]} */ (callers[caller]).agent();
      outcomes.push({ caller, ...await callAndCancel(callId, agent, operator, random, confirmed) });
      for (const { at, reached } of watchers) if (outcomes.length >= at) reached();
    }
  };
  const all = Promise.all(callers.flatMap((_, caller) => Array.from({ length: width }, (_, nth) => runner(caller, 1 + caller * width + nth))));
  return {
    /** The outcomes of the calls that have settled so far. */
    outcomes,
    all,
    /** Resolves when this many calls have settled. @param {number} at */
    settled: (at) => new Promise((/** @type {(value: void) => void} */ reached) => {
      watchers.push({ at, reached });
      if (outcomes.length >= at) reached();
    }),
  };
}
