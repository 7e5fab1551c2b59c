/**
 * The bytes of a result as a Blob: from a buffer, base64 text, a data URL, or ABP's
 * `{content, mimeType, encoding}`. Null when the value is none of these.
 * @param {unknown} value
 * @param {string} mimeType used if the value does not name its type
 * @returns {Promise<Blob | null>}
 */
export async function toBlob(value, mimeType) {
  if (value instanceof Blob) return value;
  const buffer = ArrayBuffer.isView(value) ? value.buffer : value;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === 0) throw new Error('its bytes were moved to the agent that asked for them');
  if (value instanceof ArrayBuffer) return new Blob([value], { type: mimeType });
  if (ArrayBuffer.isView(value)) return new Blob([/** @type {ArrayBufferView<ArrayBuffer>} */ (value)], { type: mimeType });
  if (typeof value === 'string') {
    const url = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w=.+-]+)*;base64,/.exec(value.slice(0, 200));
    return url ? decode(value.slice(url[0].length), url[1] ?? mimeType) : decode(value, mimeType);
  }
  if (value === null || typeof value !== 'object' || !('content' in value)) return null;
  const named = /** @type {{ content: unknown, mimeType?: unknown, encoding?: unknown }} */ (value);
  const type = typeof named.mimeType === 'string' ? named.mimeType : mimeType;
  if (named.encoding === 'utf-8' && typeof named.content === 'string') return new Blob([named.content], { type });
  return toBlob(named.content, type);
}

/**
 * @param {string} base64
 * @param {string} type
 */
function decode(base64, type) {
  // Decodes in pieces, so that a large file is not held three times at once.
  const piece = 4 * 65_536;
  const parts = [];
  for (let at = 0; at < base64.length; at += piece) {
    const binary = atob(base64.slice(at, at + piece));
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    parts.push(bytes);
  }
  return new Blob(parts, { type });
}
