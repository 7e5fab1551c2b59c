/**
 * Takes samples of contenders in turns. Runs in the page and in Node.
 *
 * @typedef {object} Contender
 * @property {string} name
 * @property {(count: number) => Promise<number>} measure milliseconds that this many operations took
 * @property {() => Promise<void>} check throws when the measured operation does not do what its name says
 * @property {string} [note] what a reader has to know about the contender
 * @property {number} [most] the most operations in one sample
 * @property {number} [exactly] the operations in one sample, where the measurement depends on their number
 * @property {string} [base] the contender that this one is compared with, if it is not the group's base
 *
 * @typedef {object} Sampling
 * @property {number} rounds the number of rounds that count
 * @property {number} roundMs milliseconds for each contender in each round
 * @property {boolean} [collect] whether to collect garbage before each contender, where the browser allows it
 *
 * @typedef {object} Samples
 * @property {string} name
 * @property {string | undefined} note
 * @property {string | undefined} base
 * @property {number} perSample the number of operations whose mean is one sample
 * @property {number[][]} rounds microseconds per operation: the samples of each round
 */

/** The least duration of a sample: the clock of a page has steps of 5 µs. */
const SAMPLE_MS = 0.25;
/** The fewest samples in a round: in a round of fewer samples, pauses could dominate. */
const LEAST = 5;
const WARM_UP_MS = 150;
const WARM_UPS = 2;

/**
 * Takes samples in the order A B C, C B A, so that other load on the machine affects all contenders alike.
 *
 * @param {Contender[]} contenders
 * @param {Sampling} sampling
 * @returns {Promise<Samples[]>}
 */
export async function inTurns(contenders, { rounds, roundMs, collect = false }) {
  for (const { name, check } of contenders) {
    try {
      await check();
    } catch (/** @type {any} */ error) {
      throw new Error(`${name} is not correct: ${error?.message ?? error}`, { cause: error });
    }
  }
  const all = [];
  for (const contender of contenders) all.push({ contender, perSample: await sampleSize(contender), rounds: /** @type {number[][]} */ ([]) });
  for (let round = -WARM_UPS; round < rounds; round += 1) {
    for (const { contender, perSample, rounds: taken } of round % 2 === 0 ? all : all.toReversed()) {
      // Lets leftover work of one contender end before the next one's time begins.
      await new Promise((resolve) => setTimeout(resolve));
      if (collect) /** @type {any} */ (globalThis).gc?.();
      const samples = [];
      const until = performance.now() + roundMs;
      const least = contender.exactly === undefined ? LEAST : 1;
      while (samples.length < least || performance.now() < until) samples.push(((await contender.measure(perSample)) * 1000) / perSample);
      if (round >= 0) taken.push(samples);
    }
  }
  return all.map(({ contender: { name, note, base }, perSample, rounds: taken }) => ({ name, note, base, perSample, rounds: taken }));
}

/**
 * The number of operations that takes long enough for the clock. Determined after the browser has compiled the code.
 *
 * @param {Contender} contender
 */
async function sampleSize({ measure, most = 4096, exactly }) {
  if (exactly !== undefined) return exactly;
  const until = performance.now() + WARM_UP_MS;
  while (performance.now() < until) await measure(Math.min(32, most));
  let count = 1;
  // Takes the fastest of three, because a pause looks like slow work.
  while (count < most && Math.min(await measure(count), await measure(count), await measure(count)) < SAMPLE_MS) count *= 2;
  return Math.min(count, most);
}

/**
 * Measures operations that run one after the other.
 *
 * @param {() => Promise<unknown>} work
 * @returns {(count: number) => Promise<number>}
 */
export function oneByOne(work) {
  return async (count) => {
    const start = performance.now();
    for (let i = 0; i < count; i += 1) await work();
    return performance.now() - start;
  };
}

/** @param {unknown} actual @param {unknown} expected @param {string} what */
export function same(actual, expected, what) {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found !== wanted) throw new Error(`${what}: ${found} instead of ${wanted}`);
}
