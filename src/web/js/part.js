/**
 * Parts of this package that not everybody needs. A request that fails is made again, as a lost
 * socket is. Firefox keeps the failure with the URL, and no other can be asked for: bundlers follow imports of
 * literal names only. There the page has to be loaded again.
 */

/** Milliseconds before it is tried again: doubled each time. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 10_000;
/** How often whoever waits for an answer has it tried. */
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
