/**
 * Whether texts are regular expressions. Only the browser knows, and for some it takes long: each
 * `\p{…}` is looked up in all of Unicode, and the characters of a class are put in order.
 */
import { Unchecked } from './unchecked.js';

/** A longer one takes the browser long to read. */
const MOST_CHARACTERS = 10_000;
/** About as many microseconds as one check may take for them. */
const MOST_WORK = 100_000;
/** For each property of characters. */
const PROPERTY = 300;
/** Characters of a class, whose square divided by this is what it takes. */
const CLASS = 1700;

/** The texts of one check. */
export class Expressions {
  #left = MOST_WORK;
  /** @type {Map<string, boolean>} */
  #known = new Map();

  /**
   * @param {string} text
   * @returns {boolean} whether it is one
   * @throws {Unchecked} when it would take too long to find out
   */
  has(text) {
    if (text.length > MOST_CHARACTERS) return false;
    let known = this.#known.get(text);
    if (known === undefined) {
      this.#left -= workOf(text);
      if (this.#left < 0) throw new Unchecked();
      this.#known.set(text, (known = isExpression(text)));
    }
    return known;
  }
}

/** @param {string} text */
function workOf(text) {
  let work = 1 + text.length / 10 + PROPERTY * (text.match(/\\p/gi)?.length ?? 0);
  for (const [{ length }] of text.matchAll(/\[(?:\\.|[^\]\\])*/gs)) work += length ** 2 / CLASS;
  return work;
}

/** @param {string} text */
function isExpression(text) {
  try {
    return !/[^\\]\\Z/.test(text) && new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
