/**
 * Calls whose promise resolves with data or rejects, and calls whose progress can be iterated over.
 * Both use `call`, whose response reports every outcome.
 */
import { CapHostError } from './errors.js';
import { isPlain, isSimple } from './plain.js';
import { asyncDispose } from './platform.js';
import { get } from './read.js';

/** @import { CallOptions } from '../../../npm/agent.js' */

/** The part of an agent that uses only `begin`, `cancel` and `shutdown`. */
export class Caller {
  /**
   * @param {string} _capability
   * @param {object} [_params]
   * @param {CallOptions} [_options]
   * @returns {{ callId: string, response: Promise<any> }} of the call: its id, and its ABPResponse
   */
  begin(_capability, _params, _options) {
    throw new TypeError('An agent defines how it calls');
  }

  /**
   * Calls a capability, and returns its data. Rejects with a CapHostError, or with an AbortError if the
   * call was cancelled.
   *
   * @param {string} capability
   * @param {object} [params]
   * @param {CallOptions} [options]
   * @returns {Promise<any>}
   */
  invoke(capability, params, options) {
    if (!isSimple(params) && holdsFunction(params)) return /** @type {any} */ (this).lend(params, (/** @type {object} */ lent, /** @type {object[]} */ transfer) => this.invoke(capability, lent, { ...options, transfer }), options?.transfer);
    return resultOf(this.begin(capability, params, options), options);
  }

  /**
   * Starts a call and follows its progress.
   *
   * @param {string} capability
   * @param {object} [params]
   * @param {CallOptions} [options]
   */
  start(capability, params, options) {
    return new RunningCall(this, capability, params, options);
  }

  /**
   * The capabilities as methods, by the parts of their names: `api.text.words(params, options)` invokes
   * `text.words`.
   *
   * @returns {any}
   */
  as() {
    return methods(this, '');
  }

  async [asyncDispose]() {
    await /** @type {any} */ (this).shutdown();
  }
}

/**
 * @param {Caller} caller
 * @param {string} name of a capability, or the beginning of names
 * @returns {any}
 */
const methods = (caller, name) =>
  new Proxy(() => {}, {
    // An object with a method `then` would be a promise.
    get: (_, part) => (typeof part === 'symbol' || part === 'then' ? undefined : methods(caller, name ? `${name}.${part}` : part)),
    apply: (_, __, [params, options]) => caller.invoke(name, params, options),
  });

/** @param {any} value @param {Set<object>} [seen] @returns {boolean} whether a function is in its plain objects and arrays */
function holdsFunction(value, seen = new Set()) {
  if (typeof value === 'function') return true;
  if (typeof value !== 'object' || value === null || seen.has(value) || !(Array.isArray(value) || isPlain(value))) return false;
  seen.add(value);
  return Object.values(value).some((it) => holdsFunction(it, seen));
}

/** A running call. It is an async iterable of its progress. */
export class RunningCall {
  /** The latest progress that has not been read. @type {any} */
  #latest;
  #ended = false;
  /** The readers that wait for new progress. @type {Set<() => void>} */
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
    const onProgress = (/** @type {any} */ info) => {
      this.#latest = info;
      this.#wake();
      get(options, 'onProgress')?.(info);
    };
    const begun = agent.begin(capability, params, { ...options, onProgress });
    this.callId = begun.callId;
    /** @type {Promise<any>} */
    this.result = resultOf(begun, options);
    const end = () => {
      this.#ended = true;
      this.#wake();
    };
    // A reader that only follows the progress gets the error from the iterator.
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

  /** Yields the newest progress until the call has ended, and throws the error that the result rejects with. */
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
 * @param {{ callId: string, response: Promise<any> }} begun
 * @param {CallOptions} [options]
 * @returns {Promise<any>} the data of the call
 */
async function resultOf({ callId, response: coming }, options) {
  const response = await coming;
  if (response.success) return get(response, 'data');
  if (get(response, 'cancelled')) throw abortError(callId, response.metadata?.stop, get(options, 'signal'));
  throw new CapHostError(response.error);
}

/**
 * @param {string} callId
 * @param {string | undefined} stop how far the call was seen to stop
 * @param {AbortSignal} [signal] of the caller
 */
function abortError(callId, stop, signal) {
  // If another party cancelled the call, its reason is unknown.
  const reason = signal?.aborted ? signal.reason : undefined;
  const error = new DOMException('The call was cancelled', 'AbortError');
  return Object.assign(error, { callId, stop, reason });
}
