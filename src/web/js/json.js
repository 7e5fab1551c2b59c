/**
 * Envelopes as JSON text. Binary data, which JSON cannot carry, becomes ABP's binary object.
 */

/**
 * @param {unknown} envelope
 * @returns {string}
 * @throws {TypeError} for values that JSON cannot express
 */
export const toText = (envelope) => textOf(envelope, (_, value) => encode(value));

/**
 * JSON text, unaffected by a `toJSON` that the page has added to a prototype: old libraries have one
 * that turns arrays into text.
 *
 * @param {unknown} value
 * @param {(key: string, value: any) => unknown} each
 * @returns {string}
 */
export const textOf = (value, each) =>
  JSON.stringify(value, function (key, written) {
    return each(key, unpatched(this[key], written));
  });

/** @param {any} value @param {unknown} written the result of its `toJSON`, if it has one */
function unpatched(value, written) {
  if (typeof value !== 'object' || value === null) return written;
  // A clock of a test may have replaced `Date`, and an old library its `toJSON`.
  const isDate = Object.prototype.toString.call(value) === '[object Date]';
  if (value === written && !isDate) return written;
  const { toJSON } = value;
  if (toJSON && !COMMON.some((it) => it.prototype.toJSON === toJSON)) return written;
  if (!isDate) return value;
  return isNaN(value) ? null : value.toISOString();
}

/** @type {any[]} */
const COMMON = [Date, Array, Object, String, Number, Boolean];

/**
 * An envelope for a port that carries JSON. Such a port would silently drop or change values that JSON
 * cannot express.
 *
 * @param {unknown} envelope
 * @returns {any}
 * @throws {TypeError} for values that JSON cannot express
 */
export const asJson = (envelope) => JSON.parse(toText(envelope));

/**
 * @param {string} text
 * @returns {any} undefined if it is no JSON
 */
export function fromText(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const EXPRESSED = ['Object', 'Array', 'Number', 'String', 'Boolean'];

/**
 * @param {unknown} value
 * @returns {unknown} the same
 * @throws {TypeError} for values that JSON would silently write as an empty object
 */
export function expressed(value) {
  if (typeof value !== 'object' || value === null) return value;
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  if (!EXPRESSED.includes(kind)) throw new TypeError(`JSON has nothing for a ${kind}`);
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
  // In pieces: a call can take only a limited number of arguments.
  const pieces = [];
  for (let at = 0; at < bytes.length; at += 0x8000) {
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  }
  return btoa(pieces.join(''));
}
