/**
 * What samples say.
 *
 * @typedef {object} Row
 * @property {string} name
 * @property {string} [base] the row it is compared with; none for the base itself
 * @property {number} median in the unit of its group
 * @property {number} [p99] 99 of 100 samples are at most this
 * @property {number} [ratio] median of the rounds' ratios to the base
 * @property {number} [low] a quarter of the rounds' ratios are below
 * @property {number} [high] a quarter are above
 * @property {number} [quiet] the quickest tenth of its samples against the base's: what is left when others use the machine
 * @property {number} [p99Ratio] its p99 against the base's
 * @property {number} [samples]
 * @property {number} [perSample] operations whose mean is one sample
 * @property {string} [note]
 */

/**
 * Each round is compared with the same round of the base, so that slow minutes of the machine fall out.
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

/** @param {number[]} values @param {number} share @returns {number} the value that this share of them is at most */
export function at(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}
