/**
 * How a call ended, as a tool says it: in the shape of MCP's `CallToolResult`. A tool that throws
 * loses its message on the way, so errors are results too.
 *
 * @typedef {{ type: 'text', text: string } | { type: 'image', data: string, mimeType: string }} Content
 *
 * @typedef {{ content: Content[], structuredContent?: object, isError?: true, _meta?: object }} ToolResult
 */
/**
 * @param {{ success: boolean, data?: any, error?: any, cancelled?: boolean, metadata?: { stop?: string } }} response an ABPResponse
 * @param {(data: unknown) => string} toText
 * @returns {ToolResult}
 */
export function toolResult({ success, data, error, cancelled, metadata }, toText) {
  if (cancelled) {
    const { _meta, ...result } = failed({ code: 'CANCELLED', message: 'The call was cancelled', retryable: false });
    return { ...result, _meta: { ..._meta, 'caphost/stop': metadata?.stop } };
  }
  if (!success) return failed(error);
  if (data === undefined) return { content: [] };
  let text;
  try {
    // What JSON has no words for, such as an ArrayBuffer, is written as an envelope on a wire is.
    text = toText(data);
  } catch (thrown) {
    return failed({ code: 'OPERATION_FAILED', message: `The capability returned data that cannot be sent: ${thrown}`, retryable: false });
  }
  const plain = JSON.parse(text);
  return {
    content: [{ type: 'text', text: typeof plain === 'string' ? plain : text }],
    ...(typeof plain === 'object' && plain !== null && !Array.isArray(plain) && { structuredContent: plain }),
  };
}

/** @param {any} error an ABPError @returns {ToolResult} */
const failed = (error) => ({
  content: [{ type: 'text', text: `${error.code}: ${error.message}` }],
  isError: true,
  // The whole ABPError, for whoever knows what that is.
  _meta: { 'caphost/error': error },
});
