/**
 * One invocation of a tool by a handler. Its end is passed on as the browser or the tool has stated it.
 *
 * @typedef {object} Ways
 * @property {string} frameId where the tool is
 * @property {() => boolean} isStopped whether the call was cancelled
 * @property {(id: string) => Promise<unknown>} cancel asks the browser
 * @property {(why: string) => void} refused the browser does not cancel it
 * @property {(seen: string | undefined) => void} stopped the tool was stopped, as far as was seen
 * @property {() => void} over called before any end
 * @property {(data: unknown) => void} resolve
 * @property {(error: import('../errors.js').AbpError) => void} reject
 */
import { problem, text } from '../errors.js';

export class Invocation {
  /** The browser's id, once it is known. @type {string | undefined} */
  id;
  /** Settles when the browser has given the id. @type {Promise<void>} */
  begun = Promise.resolve();
  /** Whether the browser did not cancel it. */
  refused = false;
  #unwanted = false;
  #over = false;
  #ways;

  /** @param {Ways} ways */
  constructor(ways) {
    this.#ways = ways;
  }

  get frameId() {
    return this.#ways.frameId;
  }

  /** @param {string} id */
  named(id) {
    this.id = id;
    if (this.#unwanted) this.#cancel(id);
  }

  /** The call was cancelled. */
  stop() {
    this.#unwanted = true;
    if (this.id !== undefined && !this.#over) this.#cancel(this.id);
  }

  /** @param {string} id */
  #cancel(id) {
    this.#ways.cancel(id).catch((error) => {
      if (this.#over) return;
      this.refused = true;
      this.#ways.refused(text(error));
    });
  }

  /** The tool cannot give a result any more. @param {import('../errors.js').AbpError} error */
  fail(error) {
    // Nobody saw the end of a tool that was told to stop.
    if (this.#ends()) this.#ways.isStopped() ? this.#ways.stopped(undefined) : this.#ways.reject(error);
  }

  /** @param {{ status: string, output?: any, errorText?: string, exception?: { description?: string } }} event `WebMCP.toolResponded` */
  end({ status, output, errorText, exception }) {
    if (!this.#ends()) return;
    const { resolve, reject, stopped } = this.#ways;
    const failed = (/** @type {string | undefined} */ why) => reject(problem('OPERATION_FAILED', why || 'The tool failed'));
    // The browser tells the tool about the cancel, and does not wait.
    if (status === 'Canceled') stopped(undefined);
    else if (status !== 'Completed') failed(messageOf(exception) || errorText);
    else if (!Array.isArray(output?.content)) resolve(output);
    else if (!output.isError) resolve(dataOf(output));
    else {
      const error = output._meta?.['caphost/error'];
      if (error?.code === 'CANCELLED') stopped(wordOf(output._meta['caphost/stop']));
      else if (error) reject(error);
      else failed(textOf(output));
    }
  }

  /** @returns {boolean} false if it has ended before */
  #ends() {
    if (this.#over) return false;
    this.#over = true;
    this.#ways.over();
    return true;
  }
}

/** @param {unknown} stop of a page @returns {string | undefined} */
const wordOf = (stop) => (typeof stop === 'string' ? stop : undefined);

/** @param {{ content: any[] }} output */
const textOf = ({ content }) => content.map((part) => part?.text ?? '').join('\n');

/** @param {any} output a `CallToolResult` of MCP */
function dataOf(output) {
  if (output.structuredContent !== undefined) return output.structuredContent;
  const { content } = output;
  const onlyText = content.length > 0 && content.every((/** @type {any} */ part) => part?.type === 'text');
  return onlyText ? textOf(output) : output;
}

/**
 * The message of a thrown error. The browser puts the error's name before the message and the stack
 * after it.
 *
 * @param {{ description?: string } | undefined} exception
 */
function messageOf(exception) {
  const [described = ''] = (exception?.description ?? '').split(/\n\s+at /);
  return described.replace(/^(\w*Error): /, '');
}
