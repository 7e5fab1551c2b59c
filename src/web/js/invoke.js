/**
 * Calls whose promise gives data or rejects, and calls whose progress can be iterated over. Both are
 * made of `call`, which tells everything by its response.
 */
import { CapHostError } from './errors.js';
import { asyncDispose, newId } from './platform.js';

/** @import { CallOptions } from '../../../npm/agent.js' */

/** An agent, as far as it is made of `call`, `cancel` and `shutdown`. */
export class Caller {
  /**
   * @param {string} _capability
   * @param {object} [_params]
   * @param {CallOptions} [_options]
   * @returns {Promise<any>} an ABPResponse
   */
  call(_capability, _params, _options) {
    return Promise.reject(new TypeError('An agent defines how it calls'));
  }

  /**
   * Calls a capability, and gives its data. Rejects with a CapHostError, or with an AbortError if
   * the call was cancelled.
   *
   * @param {string} capability
   * @param {object} [params]
   * @param {CallOptions} [options]
   * @returns {Promise<any>}
   */
  async invoke(capability, params, options) {
    const callId = options?.callId ?? newId();
    const response = await this.call(capability, params, { ...options, callId });
    if (response.success) return response.data;
    if (response.cancelled) throw abortError(callId, response.metadata?.stop, options?.signal);
    throw new CapHostError(response.error);
  }

  /**
   * Starts a call whose progress is wanted.
   *
   * @param {string} capability
   * @param {object} [params]
   * @param {CallOptions} [options]
   */
  start(capability, params, options) {
    return new RunningCall(this, capability, params, options);
  }

  async [asyncDispose]() {
    await /** @type {any} */ (this).shutdown();
  }
}

/** A call under way. It is an async iterable of its progress. */
export class RunningCall {
  /** What was told last, and not been read. @type {any} */
  #latest;
  #ended = false;
  /** Of who waits for something new. @type {Set<() => void>} */
  #waiting = new Set();
  #agent;

  /**
   * @param {any} agent
   * @param {string} capability
   * @param {object} [params]
   * @param {CallOptions} [options]
   */
  constructor(agent, capability, params, options) {
    this.#agent = agent;
    this.callId = options?.callId ?? newId();
    const onProgress = (/** @type {any} */ info) => {
      this.#latest = info;
      this.#wake();
      options?.onProgress?.(info);
    };
    /** @type {Promise<any>} */
    this.result = agent.invoke(capability, params, { ...options, callId: this.callId, onProgress });
    const end = () => {
      this.#ended = true;
      this.#wake();
    };
    // Who only follows the progress is told by the iterator.
    this.result.then(end, end);
  }

  #wake() {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** @param {unknown} [reason] @returns {Promise<any>} a CancelResponse */
  cancel(reason) {
    return this.#agent.cancel(this.callId, reason);
  }

  /** Gives the newest progress until the call has ended, and throws what the result rejects with. */
  async *[Symbol.asyncIterator]() {
    let seen;
    while (true) {
      const latest = this.#latest;
      if (latest !== undefined && latest !== seen) {
        seen = latest;
        yield latest;
      } else if (this.#ended) {
        await this.result;
        return;
      } else await new Promise((/** @type {(value?: unknown) => void} */ resolve) => this.#waiting.add(() => resolve()));
    }
  }
}

/**
 * @param {string} callId
 * @param {string | undefined} stop how far the stop was seen
 * @param {AbortSignal} [signal] of the caller
 */
function abortError(callId, stop, signal) {
  // Whoever else has cancelled it has not told us why.
  const reason = signal?.aborted ? signal.reason : undefined;
  const error = new DOMException('The call was cancelled', 'AbortError');
  return Object.assign(error, { callId, stop, reason });
}
