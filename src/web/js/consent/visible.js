/**
 * Parameters as text for a person who decides about them. They come from an agent: no character of
 * theirs may be invisible, change the direction of the text, or begin a line.
 */

const HIDDEN = /[\u0000-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|[\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** @param {string} text @returns {string} with an escape in place of each hidden character */
export const visible = (text) => text.replace(HIDDEN, (it) => `\\u{${it.codePointAt(0)?.toString(16)}}`);

/**
 * @param {unknown} value
 * @param {number} most characters
 * @returns {string} the value in one line, as in JSON, with an ellipsis where the rest is cut off
 */
export function shown(value, most) {
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
