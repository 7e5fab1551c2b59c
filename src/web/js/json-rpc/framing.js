/**
 * The wrapping of messages: as objects, as JSON text, or in the envelope of `@mcp-b/transports`, `{
 * channel, type: 'mcp', direction, payload }`.
 */

/** The texts that MCP-B's two ends send in addition to messages. */
const CHECK = 'mcp-check-ready';
const READY = 'mcp-server-ready';
const STOPPED = 'mcp-server-stopped';

/** @param {any} message */
const isWrapped = (message) => message?.type === 'mcp' && message.direction === 'client-to-server';

/**
 * The wrapping of one connection, which its first message sets.
 *
 * @param {any} first
 * @param {(message: any) => void} post
 * @param {(value: any) => string} toText
 */
export function framing(first, post, toText) {
  const wrapped = isWrapped(first);
  const asText = typeof first === 'string';
  /** @param {any} payload */
  const wrap = (payload) => post({ channel: first.channel, type: 'mcp', direction: 'server-to-client', payload });
  return {
    /** @param {any} message */
    send(message) {
      if (wrapped) wrap(JSON.parse(toText(message)));
      else post(asText ? toText(message) : message);
    },
    /**
     * @param {any} raw
     * @returns {{ message?: any, unreadable?: string }} neither, if it is answered or nothing is to be
     */
    unwrap(raw) {
      const message = isWrapped(raw) ? raw.payload : raw;
      if (wrapped && message === CHECK) {
        wrap(READY);
        return {};
      }
      if (typeof message !== 'string') return { message };
      try {
        return { message: JSON.parse(message) };
      } catch (error) {
        return { unreadable: `The message is not valid JSON: ${/** @type {Error} */ (error).message}` };
      }
    },
    /** The host is going away. */
    stop() {
      if (wrapped) wrap(STOPPED);
    },
  };
}
