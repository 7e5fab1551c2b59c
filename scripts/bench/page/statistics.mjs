/**
 * Statistics of samples.
 *
 * @typedef {object} Row
 * @property {string} name
 * @property {string} [base] the row that this one is compared with; none for the base itself
 * @property {number} median in the group's unit
 * @property {number} [p99] the 99th percentile of the samples
 * @property {number} [ratio] the median of the rounds' ratios to the base
 * @property {number} [low] a quarter of the rounds' ratios are below
 * @property {number} [high] a quarter of the rounds' ratios are above
 * @property {number} [quiet] the ratio of the fastest tenth of the samples to the base's: least disturbed by other load on the machine
 * @property {number} [p99Ratio] the ratio of the p99 to the base's
 * @property {number} [samples]
 * @property {number} [perSample] the number of operations whose mean is one sample
 * @property {string} [note]
 */

/**
 * Compares each round with the same round of the base, so that slow minutes of the machine cancel out.
 *
 * @param {import('./sampling.mjs').Samples[]} all
 * @param {string} base
 * @returns {Row[]}
 */
export function summarise(all, base) {
  return all.map(({ name, note, perSample, rounds, base: own = base }) => {
    const values = rounds.flat();
    /** @type {Row} */
    const row = { name, median: at(values, 0.5), p99: at(values, 0.99), samples: values.length, perSample, ...(note && { note }) };
    const other = all.find((it) => it.name === own);
    if (other === undefined || own === name) return row;
    const others = other.rounds.flat();
    return { ...row, base: own, ...ratios(rounds, other.rounds), quiet: at(values, 0.1) / at(others, 0.1), p99Ratio: at(values, 0.99) / at(others, 0.99) };
  });
}

/** @param {number[][]} rounds @param {number[][]} base */
export function ratios(rounds, base) {
  const each = rounds.map((samples, i) => at(samples, 0.5) / at(base[i] ?? [], 0.5));
  return { ratio: at(each, 0.5), low: at(each, 0.25), high: at(each, 0.75) };
}

/** @param {number[]} values @param {number} share @returns {number} the quantile: this share of the values is at most the result */
export function at(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}
