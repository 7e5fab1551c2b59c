/**
 * What a JavaScript capability is given for one call.
 */
import { abortWith } from './platform.js';

/** @import { Shell } from './shell.js' */

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
