/**
 * Loads the parts of this package that not every app needs. A failed request is made again, like a lost
 * socket. Firefox remembers the failure of a URL. Another URL is not possible, because bundlers follow
 * only imports with literal names. In Firefox, the page must be loaded again.
 */

/** Milliseconds before the next attempt: doubled each time. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 10_000;
/** The number of attempts if somebody waits for an answer. */
const TRIES = 4;

/**
 * @param {() => Promise<any>} load imports the part
 * @param {(error: any, tries: number) => boolean} [goesOn] whether to try again after that failure
 * @returns {Promise<any>} the module
 */
export async function loadPart(load, goesOn = (_, tries) => tries < TRIES) {
  for (let tries = 1, pause = FIRST_PAUSE; ; tries += 1, pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    try {
      return await load();
    } catch (error) {
      if (!goesOn(error, tries)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/**
 * @template T
 * @param {() => Promise<T>} load imports the part
 * @returns {() => Promise<T>} loads the part at the first call. After a failure, the next call tries again
 */
export function once(load) {
  /** @type {Promise<T> | undefined} */
  let loading;
  return () => (loading ??= loadPart(load).catch((error) => {
    loading = undefined;
    throw error;
  }));
}
