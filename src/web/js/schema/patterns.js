/**
 * The patterns of a schema, and the known results for the texts of one check.
 *
 * Nearly all patterns are matched here, without backtracking. The rest goes to a worker, which is ended
 * at a deadline: no message of an agent can block the page.
 */
import { Expressions } from './expressions.js';
import { LinearPattern } from './linear.js';
import { askWorker } from './pattern-worker.js';
import { UNCHECKED, Unchecked } from './unchecked.js';

/** @import { Verdict } from '../validators.js' */

/** The number of steps that a check may take here, about a tenth of a second. Beyond that, the worker continues. */
const MOST_WORK = 1e7;
/** The number of texts that a worker checks in one check. */
const MOST_TEXTS = 10_000;

/** @type {Verdict} */
const NO_WORKER = {
  code: 'NOT_SUPPORTED',
  message: 'The parameters cannot be checked: a pattern of the schema is one that only a worker can check safely, and there is none here (a Content-Security-Policy needs `worker-src blob:`)',
};

/** The patterns of a schema. */
export class Matchers {
  /** @type {Map<string, LinearPattern | undefined>} */
  #linear = new Map();

  /** @param {string} pattern */
  add(pattern) {
    this.#linear.set(pattern, LinearPattern.of(pattern));
  }

  /** @param {string} pattern */
  get(pattern) {
    return this.#linear.get(pattern);
  }

  /** The patterns that only a worker can check. */
  get slow() {
    return [...this.#linear].filter(([, linear]) => !linear).map(([pattern]) => pattern);
  }
}

/** The patterns of one check. */
export class Patterns {
  /** The texts that must be regular expressions themselves. */
  expressions = new Expressions();
  #matchers;
  #work = 0;
  /** @type {Map<string, Map<string, boolean>>} */
  #known = new Map();
  /** The questions without a known answer. @type {[pattern: string, text: string][]} */
  #asked = [];

  /** @param {Matchers} matchers */
  constructor(matchers) {
    this.#matchers = matchers;
  }

  /** Whether the last check used guesses. */
  get open() {
    return this.#asked.length > 0;
  }

  /**
   * @param {string} pattern
   * @param {string} text
   * @returns {boolean} a guess, if that is still to be asked
   * @throws {Unchecked} when that would be too much to ask
   */
  test(pattern, text) {
    const known = this.#known.get(pattern)?.get(text);
    if (known !== undefined) return known;
    const linear = this.#matchers.get(pattern);
    // The end of a text costs as much as a character: an empty text also takes work.
    const work = (linear?.cost ?? Infinity) * (text.length + 1);
    if (linear && this.#work + work <= MOST_WORK) {
      this.#work += work;
      return linear.test(text);
    }
    this.#asked.push([pattern, text]);
    // No worker will be asked, so the rest of the value need not be checked.
    if (this.#asked.length > MOST_TEXTS) throw new Unchecked();
    return true;
  }

  /**
   * Finds the answers to the open questions.
   *
   * @returns {Promise<Verdict | undefined>} why that cannot be
   */
  async ask() {
    const asked = this.#asked;
    this.#asked = [];
    this.#work = 0;
    if (asked.length > MOST_TEXTS) return UNCHECKED;
    const answer = await askWorker(asked);
    if (answer === 'none') return NO_WORKER;
    if (answer === 'late') return UNCHECKED;
    let at = 0;
    for (const [pattern, text] of asked) {
      let known = this.#known.get(pattern);
      if (!known) this.#known.set(pattern, (known = new Map()));
      known.set(text, answer[at] === true);
      at += 1;
    }
    return undefined;
  }
}
