/**
 * The JavaScript handlers of a host that run, and what each is given.
 */
import { inspect } from './inspect.js';
import { abortWith } from './platform.js';

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
    // Nobody waits for the error of a handler that was told to stop. That it has ended still counts.
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

/** What a handler is given for one call. */
export class Context {
  /** @type {AbortController | undefined} */
  #controller;
  /** @type {{ reason?: string } | undefined} */
  #stopped;
  #shell;
  #key;

  /**
   * @param {Shell} shell
   * @param {number} key
   * @param {string} callId
   */
  constructor(shell, key, callId) {
    this.#shell = shell;
    this.#key = key;
    this.callId = callId;
  }

  /** Whether the handler has taken its signal, and so knows of a cancel. */
  get told() {
    return this.#controller !== undefined;
  }

  /** Whether the call was cancelled. */
  get stopped() {
    return this.#stopped !== undefined;
  }

  /** Fires when the call is cancelled. Made when it is first asked for: most handlers never do. */
  get signal() {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#stopped) abortWith(this.#controller, this.#stopped.reason);
    }
    return this.#controller.signal;
  }

  // Functions rather than methods, so that a handler can take them out of the context. Made when
  // they are asked for: most handlers never do.

  /** Takes a ProgressInfo without its operationId. */
  get progress() {
    return (/** @type {object} */ info) => {
      if (typeof info !== 'object' || info === null) throw new TypeError('Progress is an object');
      const copy = { ...info };
      this.#shell.rust.progress(this.#shell.number, this.#key, copy);
    };
  }

  /** Calls another capability as a child of this call; gives the promise of an ABPResponse. */
  get call() {
    /**
     * @param {string} capability
     * @param {object} [params]
     * @param {{ timeout?: number, callId?: string, signal?: AbortSignal }} [options]
     * @returns {Promise<any>}
     */
    return (capability, params = {}, options) => {
      const { signal, ...rest } = options ?? {};
      return this.#shell.asks.call(this.#key, { capability, params, options: rest }, signal);
    };
  }

  /** Asks the agent; gives the promise of an ABPResponse. */
  get elicit() {
    return (/** @type {object} */ request) => this.#shell.asks.agent(request, this.#shell.rust.elicit, this.#key);
  }

  /**
   * The call was cancelled.
   *
   * @param {string} [reason]
   */
  stop(reason) {
    this.#stopped = { reason };
    if (this.#controller) abortWith(this.#controller, reason);
  }
}

/** @param {any} value */
const isThenable = (value) => typeof value?.then === 'function';
