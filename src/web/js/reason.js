/** Characters that are passed on; Rust keeps fewer. */
const MAX = 4096;

/**
 * A reason is passed on only if it is a string, or an Error's message.
 *
 * @param {unknown} reason
 * @returns {string | undefined}
 */
export function reasonText(reason) {
  if (typeof reason === 'string') return reason.slice(0, MAX);
  try {
    // The default reason of an abort says nothing.
    if (reason instanceof DOMException && reason.name === 'AbortError') return undefined;
    return reason instanceof Error ? String(reason.message).slice(0, MAX) : undefined;
  } catch {
    return undefined;
  }
}
