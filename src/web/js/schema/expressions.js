/**
 * Checks whether texts are regular expressions. Only the browser knows, and for some texts it takes
 * long: each `\p{…}` is looked up in all of Unicode, and the characters of a class are sorted.
 */
import { Unchecked } from './unchecked.js';

/** The browser takes too long to read a longer expression. */
const MOST_CHARACTERS = 10_000;
/** The time that one check may take for expressions, in microseconds (approximate). */
const MOST_WORK = 100_000;
/** The cost of each character property. */
const PROPERTY = 300;
/** The cost of a class is the square of its characters, divided by this. */
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
