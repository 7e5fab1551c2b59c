/**
 * Regular expressions that do not backtrack: a text is read once, and all ways to match it are followed
 * in parallel (Thompson's construction). The browser's own engine tries one way after the other. For
 * `(a+)+b` and a text of 33 characters, that takes longer than anybody waits.
 *
 * Expressions with lookaround or backreferences cannot be done this way; they are left to others.
 */

/** Longer programs are not worth the effort. */
const MOST_STEPS = 2000;

/** The kinds of steps: take a character, continue at either of two steps, check the position, finish. */
const TAKE = 0;
const EITHER = 1;
const PLACE = 2;
const DONE = 3;

/**
 * @typedef {{ kind: number, takes: (code: number) => boolean, at: string, next: number, other: number }} Step
 */

class Unable extends Error {}

/** Objects made from a source, shared while anybody holds them: an app has the same pattern in many schemas. @template {object} Made */
class Shared {
  /** @type {Map<string, WeakRef<Made>>} */
  #made = new Map();
  /** At this number of entries, unused entries are removed. */
  #many = 1024;

  /** @param {string} source @param {(source: string) => Made} make @returns {Made} */
  of(source, make) {
    const known = this.#made.get(source)?.deref();
    if (known) return known;
    const made = make(source);
    this.#made.set(source, new WeakRef(made));
    if (this.#made.size > this.#many) {
      for (const [old, it] of this.#made) if (!it.deref()) this.#made.delete(old);
      this.#many = Math.max(1024, 2 * this.#made.size);
    }
    return made;
  }
}

/** @type {Shared<LinearPattern>} */
const patterns = new Shared();

export class LinearPattern {
  #steps;
  #start;
  /** The round in which each step was reached last. */
  #reached;
  #round = 0;
  /** @type {number[]} */
  #open = [];

  /** @param {{ steps: Step[], start: number }} program */
  constructor({ steps, start }) {
    this.#steps = steps;
    this.#start = start;
    this.#reached = new Uint32Array(steps.length);
  }

  /** The highest cost for each character. */
  get cost() {
    return this.#steps.length;
  }

  /**
   * @param {string} source a regular expression of the flag `u`, which the browser has accepted
   * @returns {LinearPattern | undefined} undefined if this class cannot match it
   */
  static of(source) {
    try {
      return patterns.of(source, () => new LinearPattern(new Parser(source).parse()));
    } catch (error) {
      if (error instanceof Unable) return undefined;
      throw error;
    }
  }

  /** Whether it matches anywhere in a text. @param {string} text */
  test(text) {
    /** @type {number[]} */
    let current = [];
    /** @type {number[]} */
    let following = [];
    this.#begin();
    for (let at = 0; at <= text.length;) {
      // The match may begin anywhere.
      if (this.#reach(this.#start, text, at, current)) return true;
      if (at === text.length) return false;
      const code = /** @type {number} */ (text.codePointAt(at));
      at += code > 0xffff ? 2 : 1;
      this.#begin();
      following.length = 0;
      for (const from of current) {
        const step = /** @type {Step} */ (this.#steps[from]);
        if (step.takes(code) && this.#reach(step.next, text, at, following)) return true;
      }
      [current, following] = [following, current];
    }
    return false;
  }

  #begin() {
    this.#round += 1;
    if (this.#round < 0xffffffff) return;
    this.#round = 1;
    this.#reached.fill(0);
  }

  /**
   * Adds all steps that can be reached without taking a character.
   *
   * @param {number} from
   * @param {string} text
   * @param {number} at
   * @param {number[]} found is given the steps that take one
   * @returns {boolean} whether that is the end
   */
  #reach(from, text, at, found) {
    const open = this.#open;
    open.length = 0;
    open.push(from);
    while (open.length > 0) {
      const number = /** @type {number} */ (open.pop());
      if (this.#reached[number] === this.#round) continue;
      this.#reached[number] = this.#round;
      const step = /** @type {Step} */ (this.#steps[number]);
      if (step.kind === DONE) return true;
      if (step.kind === TAKE) found.push(number);
      else if (step.kind === EITHER) open.push(step.other, step.next);
      else if (isPlace(step.at, text, at)) open.push(step.next);
    }
    return false;
  }
}

/** @param {string} place @param {string} text @param {number} at */
function isPlace(place, text, at) {
  if (place === '^') return at === 0;
  if (place === '$') return at === text.length;
  const border = isWord(text.charCodeAt(at - 1)) !== isWord(text.charCodeAt(at));
  return border === (place === '\\b');
}

/** @param {number} code NaN for none */
const isWord = (code) => (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);

/** A piece of a program that is not finished: makes its steps, which go on at `next`, and says where they begin. @typedef {(next: number) => number} Piece */

class Parser {
  #at = 0;
  /** @type {Step[]} */
  #steps = [];

  /** @param {string} source */
  constructor(source) {
    this.source = source;
  }

  /** @returns {{ steps: Step[], start: number }} */
  parse() {
    const start = this.#either()(this.#step(DONE, -1));
    return { steps: this.#steps, start };
  }

  /** @param {number} kind @param {number} next @param {number} [other] @param {Partial<Step>} [more] */
  #step(kind, next, other = -1, more) {
    if (this.#steps.length >= MOST_STEPS) throw new Unable();
    this.#steps.push({ kind, next, other, takes: never, at: '', ...more });
    return this.#steps.length - 1;
  }

  /** @returns {Piece} */
  #either() {
    const ways = [this.#row()];
    while (this.source[this.#at] === '|') {
      this.#at += 1;
      ways.push(this.#row());
    }
    return (next) => ways.map((way) => way(next)).reduceRight((other, way) => this.#step(EITHER, way, other));
  }

  /** @returns {Piece} */
  #row() {
    /** @type {Piece[]} */
    const pieces = [];
    while (this.#at < this.source.length && !'|)'.includes(/** @type {string} */ (this.source[this.#at]))) pieces.push(this.#repeated(this.#one()));
    return (next) => pieces.reduceRight((after, piece) => piece(after), next);
  }

  /** @param {Piece} piece @returns {Piece} */
  #repeated(piece) {
    const [written, few, comma, many] = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})/.exec(this.source.slice(this.#at, this.#at + 32)) ?? [];
    if (written === undefined) return piece;
    this.#at += written.length;
    // Lazy or not makes no difference, as only the match itself counts.
    if (this.source[this.#at] === '?') this.#at += 1;
    const least = few === undefined ? Number(written === '+') : Number(few);
    const most = few === undefined ? (written === '?' ? 1 : Infinity) : comma ? (many ? Number(many) : Infinity) : least;
    if (least > MOST_STEPS || (most > MOST_STEPS && most < Infinity)) throw new Unable();
    return (next) => {
      let start = next;
      if (most === Infinity) {
        const loop = this.#step(EITHER, -1, next);
        /** @type {Step} */ (this.#steps[loop]).next = piece(loop);
        start = loop;
      } else for (let count = least; count < most; count += 1) start = this.#step(EITHER, piece(start), next);
      for (let count = 0; count < least; count += 1) {
        const before = this.#steps.length;
        start = piece(start);
        // There is nothing to repeat.
        if (this.#steps.length === before) break;
      }
      return start;
    };
  }

  /** @returns {Piece} */
  #one() {
    const rest = this.source.slice(this.#at);
    const place = /^(?:[$^]|\\b|\\B)/.exec(rest)?.[0];
    if (place) {
      this.#at += place.length;
      return (next) => this.#step(PLACE, next, -1, { at: place });
    }
    if (rest[0] === '(') {
      const begin = /^\((?:\?:|\?<[^=!][^>]*>|(?!\?))/.exec(rest)?.[0];
      // This is a lookaround, or changes flags.
      if (begin === undefined) throw new Unable();
      this.#at += begin.length;
      const inner = this.#either();
      this.#at += 1;
      return inner;
    }
    const [atom = ''] = ATOM.exec(rest) ?? [];
    // This refers to a group.
    if (atom === '' || /^\\[1-9k]/.test(atom)) throw new Unable();
    this.#at += atom.length;
    const takes = takers.of(atom, takerOf);
    return (next) => this.#step(TAKE, next, -1, { takes });
  }
}

/** The checks for one character. @type {Shared<(code: number) => boolean>} */
const takers = new Shared();

/** One character, or an expression for one character. */
const ATOM = /^(?:\[(?:\\.|[^\]\\])*\]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\c[a-zA-Z]|\\[pP]\{[^}]*\}|\\.|[^\\])/su;

/** The number of characters of one page of a table. */
const PAGE = 256;

/** @param {string} atom @returns {(code: number) => boolean} whether the browser itself matches a character with it */
function takerOf(atom) {
  const [first = 0, more] = [...atom].map((character) => /** @type {number} */ (character.codePointAt(0)));
  if (more === undefined && atom !== '.') return (code) => code === first;
  const pattern = new RegExp(`^${atom}$`, 'u');
  /** The results for the characters so far: 1 for yes, 2 for no. A text uses few pages. */
  const latin = new Uint8Array(PAGE);
  /** @type {(Uint8Array | undefined)[] | undefined} */
  let others;
  return (code) => {
    if (code > 0xffff) return pattern.test(String.fromCodePoint(code));
    const page = code < PAGE ? latin : ((others ??= new Array(0x10000 / PAGE))[code >> 8] ??= new Uint8Array(PAGE));
    return (page[code & 255] ||= pattern.test(String.fromCharCode(code)) ? 1 : 2) === 1;
  };
}

const never = () => false;
