/**
 * @param {number} milliseconds infinite for never
 * @param {() => void} work
 */
export function startTimer(milliseconds, work) {
  if (milliseconds === Infinity) return undefined;
  // A timer holds at most 2^31 - 1 ms; one that fires early is set again. Rounded up, because one
  // that fires a fraction too early would spin.
  return setTimeout(work, Math.min(Math.max(0, Math.ceil(milliseconds)), 0x7fffffff));
}
