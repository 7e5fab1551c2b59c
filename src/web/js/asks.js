/**
 * The requests of handlers and of the app itself to the host: calls of other capabilities, questions to
 * agents, cancels. Each request waits for its answer under the key that Rust returns.
 */
import { cancelResponse } from './envelope.js';
import { BAD_CALL_ID, Refusal, failure, problem, text } from './errors.js';
import { readCall } from './from-agent.js';
import { inspect } from './inspect.js';
import { MAX_NAME, MILLISECONDS, get, isAmount, isObject } from './read.js';
import { underSignal } from './signal.js';
import { check, copyOf } from './taken.js';

/** @import { Call } from './from-agent.js' */
/** @import { Shell } from './shell.js' */

const FAILED = 'The host has failed';

export class Asks {
  /** @type {Map<number, (response: any) => void>} */
  #waiting = new Map();
  #shell;

  /** @param {Shell} shell */
  constructor(shell) {
    this.#shell = shell;
  }

  /**
   * A handler calls another capability.
   *
   * @param {number} parent
   * @param {{ capability: string, params: object, options: object }} payload
   * @param {AbortSignal} [signal]
   * @returns {Promise<any>} an ABPResponse
   */
  call(parent, payload, signal) {
    const { ids, rust, number } = this.#shell;
    let child = 0;
    return underSignal(
      signal,
      (reason) => rust.cancelKey(number, child, reason),
      (aborted) => {
        try {
          /** @type {Call} */
          const call = readCall(payload);
          // The handler gets exactly the copy that passed the limits and the schema.
          call.params = copyOf(this.#shell, call.params);
          check(this.#shell, { payload: call });
          const from = this.#shell.running.given(parent);
          call.by = from?.by ?? 0;
          // A list of ids for each call would be the square of a chain.
          if (from) call.within = { callId: from.callId, within: from.within };
          // Uses no other promise: a waiting promise is lost if this very job is ended.
          return this.#answer(() => {
            const given = call.callId ?? '';
            const place = ids.name(call);
            child = rust.callFrom(number, parent, given, place, call.capability, call, call.timeout, call.token);
            return child;
          }, aborted);
        } catch (error) {
          return Promise.resolve(error instanceof Refusal ? { success: false, error: error.error } : failure('INVALID_PARAMS', `The call cannot be made: ${text(error)}`));
        }
      },
    );
  }

  /**
   * A handler, or the app, asks an agent.
   *
   * @param {any} request
   * @param {(host: number, of: number, request: any, timeout: number) => number | undefined} method
   * @param {number} of the call or the connection that asks
   * @returns {Promise<any>} an ABPResponse
   */
  async agent(request, method, of) {
    const shell = this.#shell;
    let unfit = isObject(request) ? undefined : 'is no object';
    try {
      // What cannot be cloned is refused before an agent is asked.
      if (!unfit) request = copyOf(shell, request);
    } catch (error) {
      unfit = inspect(request, shell.depth, shell.size) ?? `cannot be sent: ${text(error)}`;
    }
    const timeout = get(request, 'timeout') ?? Infinity;
    if (!isAmount(timeout)) unfit ??= `has a bad timeout: ${MILLISECONDS}`;
    unfit ??= inspect(request, shell.depth, shell.size);
    if (unfit) return failure('INVALID_PARAMS', `The request ${unfit}`);
    return this.#answer(() => method(shell.number, of, request, timeout));
  }

  /**
   * The app cancels a call of one of its agents.
   *
   * @param {string | undefined} session without a session, the call of any agent
   * @param {string} callId
   * @param {string} [reason]
   * @returns {Promise<any>} a CancelResponse
   */
  cancel(session, callId, reason) {
    const { rust, number } = this.#shell;
    return new Promise((resolve) => {
      const key = rust.cancelCall(number, session, typeof callId === 'string' ? callId.slice(0, MAX_NAME) : '', reason);
      if (!key) return resolve(cancelResponse(callId, undefined, this.#noSuchSession(key)));
      this.#waiting.set(key, (response) => resolve({ ...response, callId }));
      return rust.drive(number);
    });
  }

  /** @param {number | undefined} key undefined when the instance is lost */
  #noSuchSession(key) {
    if (key === undefined) return this.#shell.guard.lost(FAILED);
    return this.#shell.closed ? problem('NOT_INITIALIZED', 'The host is closed') : problem('SESSION_INVALID', 'There is no such session');
  }

  /**
   * @param {() => number | undefined} ask gives the key: 0 when the callId cannot be one, or the
   *   host is closed
   * @param {import('./signal.js').Aborted} [aborted] of a call
   * @returns {Promise<any>}
   */
  #answer(ask, aborted) {
    return new Promise((resolve) => {
      const key = ask();
      if (!key) {
        return resolve({ success: false, error: key === 0 && !this.#shell.closed ? BAD_CALL_ID : this.#shell.guard.lost('The host has failed or is closed') });
      }
      this.#waiting.set(key, resolve);
      const { rust, number } = this.#shell;
      // Nothing has started before this.
      return aborted ? rust.cancelKey(number, key, aborted.reason) : rust.drive(number);
    });
  }

  /**
   * @param {number} key
   * @param {any} response
   */
  settle(key, response) {
    const resolve = this.#waiting.get(key);
    this.#waiting.delete(key);
    resolve?.(response);
  }

  /** The wasm instance is lost. */
  fail() {
    for (const resolve of this.#waiting.values()) resolve({ success: false, error: this.#shell.guard.lost(FAILED) });
    this.#waiting.clear();
  }
}
