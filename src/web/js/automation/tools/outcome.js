/**
 * What the browser says of a tool's invocation, as an ABPResponse.
 */
import { cancelled } from '../../envelope.js';
import { failure } from '../../errors.js';

/**
 * @param {{ status: string, output?: any, errorText?: string, exception?: { description?: string } }} event `WebMCP.toolResponded`
 * @returns {{ success: boolean, data?: any, error?: any, cancelled?: boolean }}
 */
export function outcomeOf({ status, output, errorText, exception }) {
  // The browser tells a tool, and waits for nothing.
  if (status === 'Canceled') return cancelled('abandoned');
  if (status !== 'Completed') return failure('OPERATION_FAILED', messageOf(exception) || errorText || 'The tool failed');
  if (!Array.isArray(output?.content)) return { success: true, data: output };
  const text = output.content.map((/** @type {any} */ part) => part?.text ?? '').join('\n');
  if (output.isError) {
    const error = output._meta?.['caphost/error'];
    if (error?.code === 'CANCELLED') return cancelled(output._meta['caphost/stop'] ?? 'abandoned');
    return error ? { success: false, error } : failure('OPERATION_FAILED', text || 'The tool failed');
  }
  if (output.structuredContent !== undefined) return { success: true, data: output.structuredContent };
  const onlyText = output.content.length > 0 && output.content.every((/** @type {any} */ part) => part?.type === 'text');
  return { success: true, data: onlyText ? text : output };
}

/**
 * The message of what was thrown, which the browser gives with its name before it and the stack
 * after it.
 *
 * @param {{ description?: string } | undefined} exception
 */
function messageOf(exception) {
  const [described = ''] = (exception?.description ?? '').split(/\n\s+at /);
  return described.replace(/^(\w*Error): /, '');
}
