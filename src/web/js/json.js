/**
 * Envelopes as JSON text. Binary data, which JSON cannot carry, becomes ABP's binary object.
 */

/**
 * @param {unknown} envelope
 * @returns {string}
 * @throws {TypeError} for what JSON cannot express
 */
export const toText = (envelope) => JSON.stringify(envelope, (_, value) => encode(value));

/**
 * An envelope for a port that carries JSON: it would leave out without a word, or change, what JSON
 * cannot express.
 *
 * @param {unknown} envelope
 * @returns {any}
 * @throws {TypeError} for what JSON cannot express
 */
export const asJson = (envelope) => JSON.parse(toText(envelope));

/**
 * @param {string} text
 * @returns {any} undefined when it is no JSON
 */
export function fromText(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const EXPRESSED = ['Object', 'Array', 'Null', 'Number', 'String', 'Boolean'];

/**
 * @param {unknown} value
 * @returns {unknown} the same
 * @throws {TypeError} for what JSON would write as an empty object, without a word
 */
export function expressed(value) {
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  if (typeof value === 'object' && !EXPRESSED.includes(kind)) throw new TypeError(`JSON has nothing for a ${kind}`);
  return value;
}

/** @param {unknown} value */
function encode(value) {
  const bytes =
    value instanceof ArrayBuffer
      ? new Uint8Array(value)
      : ArrayBuffer.isView(value)
        ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
        : undefined;
  if (!bytes) return expressed(value);
  return { content: toBase64(bytes), mimeType: 'application/octet-stream', encoding: 'base64', size: bytes.length };
}

/** @param {Uint8Array} bytes */
export function toBase64(bytes) {
  // In pieces: a call takes so many arguments only.
  const pieces = [];
  for (let at = 0; at < bytes.length; at += 0x8000) {
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  }
  return btoa(pieces.join(''));
}
