/**
 * Parameters as text for a person who decides about them. They come from an agent: no character of
 * theirs may be invisible, change the direction of the text, or begin a line. The text says what the
 * handler gets, so no function in the parameters, such as a `toJSON`, is called for it.
 */

/** Controls, formats, halves of pairs, unassigned characters, spaces but the usual one, and what is drawn as nothing. */
const HIDDEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;

/** @param {string} text @returns {string} with an escape in place of each hidden character */
export const visible = (text) => text.replace(HIDDEN, (it) => `\\u{${it.codePointAt(0)?.toString(16)}}`);

/** The most values that are read, and the levels of nesting. The rest is an ellipsis. */
const VALUES = 10_000;
const LEVELS = 100;

/**
 * @param {unknown} value
 * @param {number} most characters
 * @returns {string} the value in one line, as in JSON, with an ellipsis where the rest is cut off. What JSON cannot
 *   express has no quotes: `undefined`, `-0`, `10n`, the time of a Date, and otherwise the kind, such as `Map(2)`
 */
export function shown(value, most) {
  const text = new Text(most);
  text.write(value, LEVELS);
  const characters = visible(text.text.slice(0, most));
  const more = text.length - most;
  if (more <= 0) return characters;
  return `${characters}… (${text.values < 0 ? 'more than ' : ''}${more} more characters)`;
}

class Text {
  text = '';
  /** Characters of the whole text, of which only the first are kept. */
  length = 0;
  /** The number of values that may still be read; negative if there are more. */
  values = VALUES;
  #most;

  /** @param {number} most characters that are kept */
  constructor(most) {
    this.#most = most;
  }

  /** @param {unknown} value @param {number} levels that objects may still be nested */
  write(value, levels) {
    this.values -= 1;
    if (typeof value === 'string') this.#quote(value);
    else if (typeof value === 'number') this.#put(Object.is(value, -0) ? '-0' : String(value));
    else if (typeof value === 'bigint') this.#put(`${value}n`);
    else if (typeof value === 'function' || typeof value === 'symbol') this.#put(typeof value);
    else if (typeof value !== 'object' || value === null) this.#put(String(value));
    else if (levels === 0) this.#put('…');
    else this.#object(value, levels - 1);
  }

  /** @param {object} object @param {number} levels */
  #object(object, levels) {
    let kind = 'object';
    try {
      kind = kindOf(object);
      if (kind !== 'Object' && kind !== 'Array') return this.#put(ofKind(kind, object));
      const names = Object.keys(object);
      const { length } = /** @type {any[]} */ (object);
      // A list may lack elements, and have other members.
      const list = kind === 'Array' && names.length === length && names.every((name, at) => name === String(at));
      this.#put(list ? '[' : kind === 'Array' ? `Array(${length}){` : '{');
      this.#members(object, names, list, levels);
      return this.#put(list ? ']' : '}');
    } catch {
      // The kind says enough of what cannot be read.
      return this.#put(kind);
    }
  }

  /** @param {object} object @param {string[]} names @param {boolean} list @param {number} levels */
  #members(object, names, list, levels) {
    let comma = false;
    for (const name of names) {
      if (this.values < 0) return;
      if (comma) this.#put(',');
      comma = true;
      if (!list) {
        this.#quote(name);
        this.#put(':');
      }
      const member = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(object, name));
      if (Object.hasOwn(member, 'value')) this.write(member.value, levels);
      else this.#put('getter');
    }
  }

  /** @param {string} it */
  #quote(it) {
    const begin = it.slice(0, this.#most);
    // The characters that are not kept are only counted.
    if (this.length >= this.#most) this.length += it.length + 2;
    else {
      this.#put(JSON.stringify(begin));
      this.length += it.length - begin.length;
    }
  }

  /** @param {string} piece */
  #put(piece) {
    if (this.length < this.#most) this.text += piece;
    this.length += piece.length;
  }
}

/** The kind of an object, as the language and the browser name it. @param {object} it @returns {string} */
const kindOf = (it) => (Array.isArray(it) ? 'Array' : Object.hasOwn(it, Symbol.toStringTag) ? 'Object' : Object.prototype.toString.call(it).slice(8, -1));

/** @param {string} kind @param {any} it @returns {string} */
function ofKind(kind, it) {
  if (kind === 'Date') return Date.prototype.toISOString.call(it);
  if (kind === 'Map' || kind === 'Set') return `${kind}(${it.size})`;
  if (ArrayBuffer.isView(it)) return `${kind}(${it.byteLength})`;
  return kind;
}
