/** @import { RunList } from './types.js' */

const EVERY_MS = 1000;
const LONGEST_PAUSE_MS = 10_000;

/**
 * @typedef {object} Watcher
 * @property {(list: RunList | undefined) => void} heard called with the list, or with undefined if the list is unchanged
 * @property {(error: unknown) => boolean} failed called with an error; returns whether to go on asking
 */

/** Asks for the list every second while the page is visible, and less often while the gateway does not answer. */
export class Watch {
  #ask;
  #watcher;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** The number of the current start. Answers to questions before this start are ignored. */
  #round = 0;
  #failures = 0;
  #asking = false;
  #on = false;

  /**
   * @param {() => Promise<RunList | undefined>} ask
   * @param {Watcher} watcher
   */
  constructor(ask, watcher) {
    this.#ask = ask;
    this.#watcher = watcher;
    document.addEventListener('visibilitychange', () => this.now());
    window.addEventListener('online', () => this.now());
  }

  /** Starts again. */
  start() {
    this.#round += 1;
    this.#failures = 0;
    this.#asking = false;
    this.#on = true;
    this.now();
  }

  /** Asks at once instead of at the next second. */
  now() {
    clearTimeout(this.#timer);
    if (this.#on && !document.hidden && !this.#asking) void this.#look(this.#round);
  }

  /** @param {number} round */
  async #look(round) {
    this.#asking = true;
    try {
      const list = await this.#ask();
      if (round !== this.#round) return;
      this.#failures = 0;
      this.#watcher.heard(list);
    } catch (error) {
      if (round !== this.#round) return;
      this.#failures += 1;
      this.#on = this.#watcher.failed(error);
    }
    this.#asking = false;
    const pause = Math.min(LONGEST_PAUSE_MS, EVERY_MS * 2 ** Math.max(0, this.#failures - 1));
    if (this.#on) this.#timer = setTimeout(() => this.now(), pause);
  }
}
