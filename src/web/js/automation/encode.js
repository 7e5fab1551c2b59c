import { toBase64 } from '../json.js';

/**
 * An envelope as text for the page. Binary data goes beside it, under names that nothing in it can
 * have: the page gets the same kind of object again.
 *
 * @param {unknown} envelope
 * @returns {string}
 * @throws {TypeError} for what JSON cannot express
 */
export function encode(envelope) {
  const token = `binary ${crypto.randomUUID()} `;
  /** @type {{ content: string, view: boolean }[]} */
  const binaries = [];
  const message = JSON.stringify(envelope, (_, value) => {
    const view = ArrayBuffer.isView(value);
    if (!view && !(value instanceof ArrayBuffer)) return value;
    const bytes = view ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : new Uint8Array(value);
    binaries.push({ content: toBase64(bytes), view });
    return `${token}${binaries.length - 1}`;
  });
  return binaries.length > 0 ? JSON.stringify({ token, binaries, message }) : message;
}
