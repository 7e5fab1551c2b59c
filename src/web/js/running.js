/**
 * The JavaScript handlers of a host that run.
 */
import { Context } from './context.js';
import { inspect } from './inspect.js';

/** @import { Shell } from './shell.js' */

/** @typedef {{ callId: string, params: any }} Given what a call was made with, which Rust hands back as it is */

export class Running {
  /** By the keys of their calls. @type {Map<number, Context>} */
  #contexts = new Map();
  #shell;

  /** @param {Shell} shell */
  constructor(shell) {
    this.#shell = shell;
  }

  get size() {
    return this.#contexts.size;
  }

  /**
   * @param {number} key
   * @param {(params: any, context: Context) => unknown} handler
   * @param {Given} given
   */
  start(key, handler, given) {
    const context = new Context(this.#shell, key, given.callId);
    this.#contexts.set(key, context);
    try {
      const result = handler(given.params, context);
      if (isThenable(result)) {
        Promise.resolve(result).then((data) => this.#settle(key, context, data), (error) => this.#fail(key, context, error));
      } else this.#settle(key, context, result);
    } catch (error) {
      this.#fail(key, context, error);
    }
  }

  /**
   * @param {number} key
   * @param {Context} context
   * @param {unknown} error
   */
  #fail(key, context, error) {
    const { rust, number } = this.#shell;
    // What one says that was told to stop is for nobody: that it has ended is.
    if (context.stopped) rust.rejected(number, key);
    else this.#shell.fail(key, false, error);
  }

  /**
   * @param {number} key
   * @param {Context} context
   * @param {unknown} data
   */
  #settle(key, context, data) {
    const { rust, number, depth, size } = this.#shell;
    const unfit = inspect(data, depth, size);
    if (unfit) rust.unfit(number, key, `The capability returned data that cannot be sent: it ${unfit}`, context.told);
    else rust.settle(number, key, data, context.told);
  }

  /**
   * A handler is told to stop.
   *
   * @param {number} key
   * @param {string} [reason]
   */
  stop(key, reason) {
    const context = this.#contexts.get(key);
    this.#contexts.delete(key);
    context?.stop(reason);
  }

  /** @param {number} key of a call that is over */
  forget(key) {
    this.#contexts.delete(key);
  }

  /** @param {string} reason why all are told to stop */
  stopAll(reason) {
    for (const context of this.#contexts.values()) context.stop(reason);
    this.#contexts.clear();
  }
}

/** @param {any} value */
const isThenable = (value) => typeof value?.then === 'function';
