/**
 * Takes samples of contenders in turns. Used in the page and in Node alike.
 *
 * @typedef {object} Contender
 * @property {string} name
 * @property {(count: number) => Promise<number>} measure milliseconds that this many operations took
 * @property {() => Promise<void>} check throws when what is measured does not do what it says
 * @property {string} [note] what a reader has to know of it
 * @property {number} [most] operations of one sample at most
 * @property {number} [exactly] operations of one sample, where their number is what is measured
 * @property {string} [base] the contender this one is to be compared with, if not the group's own
 *
 * @typedef {object} Sampling
 * @property {number} rounds that are counted
 * @property {number} roundMs for each contender in each round
 * @property {boolean} [collect] collects the garbage before each of them, where that can be asked for
 *
 * @typedef {object} Samples
 * @property {string} name
 * @property {string | undefined} note
 * @property {string | undefined} base
 * @property {number} perSample operations whose mean is one sample
 * @property {number[][]} rounds microseconds per operation: the samples of each round
 */

/** A sample lasts at least this long: the clock of a page has steps of 5 µs. */
const SAMPLE_MS = 0.25;
/** A round of fewer samples may be all pause. */
const LEAST = 5;
const WARM_UP_MS = 150;
const WARM_UPS = 2;

/**
 * There and back again (A B C, C B A), so that what the machine does meanwhile meets all of them.
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
      // What one has left behind is not the next one's time.
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
 * Enough operations for the clock. Asked for after the browser has compiled what it will.
 *
 * @param {Contender} contender
 */
async function sampleSize({ measure, most = 4096, exactly }) {
  if (exactly !== undefined) return exactly;
  const until = performance.now() + WARM_UP_MS;
  while (performance.now() < until) await measure(Math.min(32, most));
  let count = 1;
  // The quickest of three: a pause would pass for slow work.
  while (count < most && Math.min(await measure(count), await measure(count), await measure(count)) < SAMPLE_MS) count *= 2;
  return Math.min(count, most);
}

/**
 * One operation after the other.
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
