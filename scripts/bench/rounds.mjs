/**
 * One row of the table: a measurement, and the row that it is compared with.
 *
 * @typedef {object} Row
 * @property {string} group
 * @property {string} name
 * @property {string} [base] the name of a row of the same group; none for the base itself
 * @property {'µs' | 'ms' | 'ns'} unit
 * @property {() => Promise<number>} measure measures the time per call, in the unit
 *
 * @typedef {Row & { median: number, low: number, high: number, ratio: number | undefined }} Result
 */

/**
 * Measures every row once per round, in the order A B C, C B A, so that other load on the machine
 * affects all rows alike.
 *
 * @param {Row[]} rows
 * @param {number} rounds
 * @returns {Promise<Result[]>}
 */
export async function interleaved(rows, rounds) {
  const samples = new Map(rows.map((row) => [row, /** @type {number[]} */ ([])]));
  // The first round warms up, and is not counted.
  for (let round = -1; round < rounds; round += 1) {
    for (const row of round % 2 === 0 ? rows : rows.toReversed()) {
      const value = await row.measure();
      if (round >= 0) samples.get(row)?.push(value);
    }
  }
  /** @type {Result[]} */
  const results = rows.map((row) => {
    const sorted = (samples.get(row) ?? []).sort((a, b) => a - b);
    const at = (/** @type {number} */ share) => sorted[Math.round(share * (sorted.length - 1))] ?? NaN;
    return { ...row, median: at(0.5), low: at(0.25), high: at(0.75), ratio: undefined };
  });
  for (const result of results) {
    const base = results.find(({ group, name }) => group === result.group && name === result.base);
    if (base) result.ratio = result.median / base.median;
  }
  return results;
}

/** @param {number} count @param {() => Promise<unknown>} work @returns {Promise<number>} microseconds per call, for calls that run one after the other */
export async function perCall(count, work) {
  const start = performance.now();
  for (let i = 0; i < count; i += 1) await work();
  return ((performance.now() - start) * 1000) / count;
}
