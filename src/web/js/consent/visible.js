/**
 * Parameters as text for a person who decides about them. They come from an agent: no character of
 * theirs may be invisible, change the direction of the text, or begin a line.
 */

/** Controls, formats, halves of pairs, unassigned characters, spaces but the usual one, and what is drawn as nothing. */
const HIDDEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;

/** @param {string} text @returns {string} with an escape in place of each hidden character */
export const visible = (text) => text.replace(HIDDEN, (it) => `\\u{${it.codePointAt(0)?.toString(16)}}`);

/**
 * @param {unknown} value
 * @param {number} most characters
 * @returns {string} the value in one line, as in JSON, with an ellipsis where the rest is cut off
 */
export function shown(value, most) {
  /** @type {string} */
  let text = typeof value;
  try {
    // What JSON cannot express is shown by its kind.
    text = JSON.stringify(value, (_, it) => (typeof it === 'bigint' ? `${it}n` : it)) ?? text;
  } catch {
    // The kind says enough.
  }
  const characters = visible(text.slice(0, most));
  return text.length > most ? `${characters}… (${text.length - most} more characters)` : characters;
}
