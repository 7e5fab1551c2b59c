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
  #host;
  #key;

  /**
   * @param {any} host
   * @param {number} key
   * @param {string} callId
   */
  constructor(host, key, callId) {
    this.#host = host;
    this.#key = key;
    this.callId = callId;
  }

  /** Whether the handler has taken its signal, and so knows of a cancel. */
  get told() {
    return this.#controller !== undefined;
  }

  /** Fires when the call is cancelled. Made when it is first asked for: most handlers never do. */
  get signal() {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#stopped) abortWith(this.#controller, this.#stopped.reason);
    }
    return this.#controller.signal;
  }

  /** @param {object} info a ProgressInfo without its operationId */
  progress = (info) => {
    if (typeof info !== 'object' || info === null) throw new TypeError('Progress is an object');
    const copy = { ...info };
    this.#host.enter('progress', this.#key, copy);
  };

  /**
   * Calls another capability as a child of this call.
   *
   * @param {string} capability
   * @param {object} [params]
   * @param {{ timeout?: number, callId?: string, signal?: AbortSignal }} [options]
   * @returns {Promise<any>} an ABPResponse
   */
  call = (capability, params = {}, options) => {
    const { signal, ...rest } = options ?? {};
    return this.#host.callFrom(this.#key, { capability, params, options: rest }, signal);
  };

  /**
   * Asks the agent.
   *
   * @param {object} request
   * @returns {Promise<any>} an ABPResponse
   */
  elicit = (request) => this.#host.ask(request, 'elicit', this.#key);

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
