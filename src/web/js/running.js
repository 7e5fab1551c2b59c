/**
 * The running JavaScript handlers of a host, and their contexts.
 */
import { log } from './errors.js';
import { awaitEnd, guardDepth, unwound } from './guard.js';
import { abortWith } from './platform.js';
import { get, getA } from './read.js';
import { dataOf, tellIfFit } from './taken.js';
import { give, isGiven } from './transfer.js';

/** @import { Shell } from './shell.js' */

/**
 * The parameters and the source of a call, which Rust hands back unchanged. The source is the agent of
 * a connection, or another call. In the latter case `within` is that call.
 *
 * @typedef {{ callId: string, capability?: string, params: any, by?: number, within?: import('./from-agent.js').Maker | undefined, borrowed?: import('./borrowed.js').Borrowed }} Given
 */

/**
 * The call whose code has the thread, until the code gives the thread back; the nearest first. The mark
 * is also readable while the thread is held. If the job is ended from outside, no later line of it
 * runs, so the mark is still set when the next job begins.
 *
 * `depth` is the wasm depth at which the code began. `ended` says that its job was ended from outside,
 * for the cancelled call of that callId.
 *
 * @type {{ shell: Shell, key: number, given: Given, outer: any, depth: number, seen?: number, ended?: string } | undefined}
 */
let mark;

/**
 * @param {Shell} shell
 * @param {number} by a connection
 * @returns {string[]} the callId of the agent's call that has the thread, if there is one, and those of the calls that
 *   have made it, the nearest first
 */
export function callsWithThread(shell, by) {
  /** @type {string[]} */
  const ids = [];
  const own = mark?.shell === shell && !mark.ended && mark.given.by === by;
  /** @type {import('./from-agent.js').Maker | undefined} */
  let it = own ? mark?.given : undefined;
  for (; it; it = it.within) ids.push(it.callId);
  return ids;
}

/**
 * Milliseconds since the first such question about the code that has the thread: it has held the thread
 * for at least that long.
 */
export const heldFor = () => (mark ? performance.now() - (mark.seen ??= performance.now()) : 0);

/**
 * Prepares the end of the job whose code has the thread, at its current position.
 *
 * @param {string} [callId] of the cancelled call: the call whose code has the thread, or a call that made it
 * @returns {boolean} false while the job is in our wasm, whose work would be left half done: the job waits for its
 *   end as soon as it has left wasm
 */
export function endMarked(callId = mark?.given.callId) {
  if (!mark) return false;
  const inside = guardDepth() > mark.depth;
  awaitEnd(inside ? mark.depth : -1);
  // Until that is settled, running code does not belong to that call.
  for (let it = inside ? undefined : mark; it; it = it.outer) it.ended = callId;
  return !inside;
}

/** Whether the code of a call has the thread, or had it when its job was ended. */
export const hasThread = () => mark !== undefined;

/** Called at the beginning of a job: ends the calls whose jobs were ended from outside. */
export function settleTerminated() {
  if (!mark) return;
  unwound();
  for (let ended = /** @type {typeof mark | undefined} */ (mark); ended; ended = ended.outer) {
    mark = undefined;
    ended.shell.terminated(ended.key, ended.ended);
  }
}

/** @typedef {{ stop: (reason?: string) => void, terminate: () => void }} Ender of a handler that runs in a worker */

export class Running {
  /** The contexts, by the keys of their calls. @type {Map<number, Context>} */
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
    const context = new Context(this.#shell, key, given);
    this.#contexts.set(key, context);
    const outer = mark;
    this.enter(key, given);
    /** @type {any} */
    let result;
    let thenable = false;
    /** @type {{ error: unknown } | undefined} */
    let thrown;
    try {
      result = handler(given.params, context);
      thenable = isThenable(result);
      // The result may throw when it is read.
      if (thenable) Promise.resolve(result).then((data) => this.#settle(key, context, data), (error) => this.#fail(key, context, error));
    } catch (error) {
      thrown = { error };
    }
    mark = outer;
    if (thrown) this.#fail(key, context, thrown.error);
    else if (!thenable) this.#settle(key, context, result);
  }

  /**
   * From now on, the handler of a call has the thread.
   *
   * @param {number} key
   * @param {Given} given
   */
  enter(key, given) {
    mark = { shell: this.#shell, key, given, outer: mark, depth: guardDepth() };
  }

  /** The last handler no longer has the thread. */
  leave() {
    mark = mark?.outer;
  }

  /** The parameters of a call whose JavaScript handler runs. @param {number} key */
  given(key) {
    const context = this.#contexts.get(key);
    return context && Context.givenTo(context);
  }

  /**
   * @param {number} key
   * @param {Context} context
   * @param {unknown} error
   */
  #fail(key, context, error) {
    const { rust, number } = this.#shell;
    // Nobody waits for the error of a handler that was told to stop. But its end still counts.
    if (context.stopped) return rust.rejected(number, key);
    // An error with a code is an answer. Of any other error, the agent gets the message, and the app's
    // log gets the rest. A worker has written its own log.
    if (getA('string', error, 'code') === undefined && !context.ender) this.#log(context, error);
    return this.#shell.fail(key, false, error);
  }

  /**
   * @param {number} key
   * @param {Context} context
   * @param {unknown} returned
   */
  #settle(key, context, returned) {
    const { rust, number } = this.#shell;
    const { data, unfit } = dataOf(this.#shell, returned, isGiven);
    if (!unfit) return rust.settle(number, key, data, context.told);
    const why = `The capability returned data that cannot be sent: it ${unfit}`;
    if (!context.stopped) this.#log(context, why);
    return rust.unfit(number, key, why, context.told);
  }

  /** @param {Context} context @param {unknown} error why its call has failed */
  #log(context, error) {
    const { capability = 'a handler', callId } = Context.givenTo(context);
    log('error', `${capability} (call ${callId}) has failed:`, error);
  }

  /**
   * Tells a handler to stop.
   *
   * @param {number} key
   * @param {string} [reason]
   */
  stop(key, reason) {
    const context = this.#contexts.get(key);
    // A handler that can be ended by force is kept, as that may become necessary.
    if (!context?.ender) this.#contexts.delete(key);
    context?.stop(reason);
  }

  /** Ends the worker that runs a handler. @param {number} key */
  terminate(key) {
    this.#contexts.get(key)?.ender?.terminate();
  }

  /** @param {number} key of a call that is over */
  forget(key) {
    this.#contexts.delete(key);
  }

  /** @param {string} reason the reason that all handlers get */
  stopAll(reason) {
    for (const context of this.#contexts.values()) {
      context.stop(reason);
      context.ender?.terminate();
    }
    this.#contexts.clear();
  }
}

/** The context of one call, for its handler. */
export class Context {
  /** @type {AbortController | undefined} */
  #controller;
  /** @type {{ reason?: string } | undefined} */
  #stopped;
  #shell;
  /** Ends the handler, if it runs in a worker. @type {Ender | undefined} */
  ender;
  #given;

  /** Not a member, as it must be hidden from the handler. @param {Context} context */
  static givenTo(context) {
    return context.#given;
  }

  /**
   * @param {Shell} shell
   * @param {number} key
   * @param {Given} given
   */
  constructor(shell, key, given) {
    this.#shell = shell;
    this.key = key;
    this.#given = given;
    this.callId = given.callId;
  }

  /** Whether the handler has read its signal, and so knows of a cancel. */
  get told() {
    return this.#controller !== undefined;
  }

  /** Whether the call was cancelled. */
  get stopped() {
    return this.#stopped !== undefined;
  }

  /** Fires when the call is cancelled. Made on first use, as most handlers never need it. */
  get signal() {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#stopped) abortWith(this.#controller, this.#stopped.reason);
    }
    return this.#controller.signal;
  }

  // Functions rather than methods, so that a handler can take them out of the context. Made on first
  // use, as most handlers never need them.

  /** The function that takes a ProgressInfo without its operationId. */
  get progress() {
    return (/** @type {object} */ info) => {
      if (typeof info !== 'object' || info === null) throw new TypeError('Progress is an object');
      const { rust, number } = this.#shell;
      tellIfFit(this.#shell, `progress of the call ${this.callId}`, info, (copy) => rust.progress(number, this.key, copy));
    };
  }

  /** Calls another capability as a child of this call. Returns the promise of an ABPResponse. */
  get call() {
    /**
     * @param {string} capability
     * @param {object} [params]
     * @param {{ timeout?: number, callId?: string, signal?: AbortSignal }} [options]
     * @returns {Promise<any>}
     */
    return (capability, params = {}, options) => {
      const payload = { capability, params, options: Object(options) };
      return this.#shell.asks.call(this.key, payload, get(options, 'signal'));
    };
  }

  /** Gives objects away: they are moved with the data instead of copied. */
  get transfer() {
    return give;
  }

  /** Asks the agent a question. Returns the promise of an ABPResponse. */
  get elicit() {
    return (/** @type {object} */ request) => this.#shell.asks.agent(request, this.#shell.rust.elicit, this.key);
  }

  /**
   * The call was cancelled.
   *
   * @param {string} [reason]
   */
  stop(reason) {
    this.#stopped = { reason };
    this.#given.borrowed?.end();
    if (this.#controller) abortWith(this.#controller, reason);
    this.ender?.stop(reason);
  }
}

/** @param {any} value */
const isThenable = (value) => typeof value?.then === 'function';
