/**
 * The JavaScript handlers of a host that run, and what each is given.
 */
import { log } from './errors.js';
import { awaitEnd, guardDepth, unwound } from './guard.js';
import { abortWith } from './platform.js';
import { get, getA } from './read.js';
import { dataOf } from './taken.js';
import { give } from './transfer.js';

/** @import { Shell } from './shell.js' */

/**
 * What a call was made with, which Rust hands back as it is: by the agent of a connection, or by
 * another call, whose ids are then in `within`, the nearest first.
 *
 * @typedef {{ callId: string, capability?: string, params: any, by?: number, within?: string[] }} Given
 */

/**
 * Whose code has the thread, as long as it does not give it back: the nearest first. It says so
 * even while the thread is held. Were the job ended from outside, no line after it would run, so it
 * would still stand here when another begins.
 *
 * `depth` is how deep in wasm it began, and `ended` says that its job was ended from outside: for the
 * call of that callId, which was cancelled.
 *
 * @type {{ shell: Shell, key: number, given: Given, outer: any, depth: number, seen?: number, ended?: string } | undefined}
 */
let mark;

/** @param {Shell} shell @param {number} by a connection @returns {string[]} the callIds of its agent's call that has the thread, if one has it */
export const callsWithThread = (shell, by) => (mark?.shell === shell && !mark.ended && mark.given.by === by ? [mark.given.callId, ...(mark.given.within ?? [])] : []);

/**
 * Milliseconds since somebody first asked this of the code that has the thread: so long it has held it
 * at least.
 */
export const heldFor = () => (mark ? performance.now() - (mark.seen ??= performance.now()) : 0);

/**
 * The job of the code that has the thread is to be ended where it stands.
 *
 * @param {string} [callId] of the call that was cancelled: that whose code it is, or one that has made it
 * @returns {boolean} false while it is in wasm of ours, which would be left half done: it waits for its
 *   end as soon as it is out of there
 */
export function endMarked(callId = mark?.given.callId) {
  if (!mark) return false;
  const inside = guardDepth() > mark.depth;
  awaitEnd(inside ? mark.depth : -1);
  // Until that is settled, whatever runs is not that call's.
  for (let it = inside ? undefined : mark; it; it = it.outer) it.ended = callId;
  return !inside;
}

/** Whether the code of a call has the thread, or had it when its job was ended. */
export const hasThread = () => mark !== undefined;

/** To be called at the beginning of a job: the calls whose jobs were ended from outside are over. */
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
      // It may be one that throws when it is looked at.
      if (thenable) Promise.resolve(result).then((data) => this.#settle(key, context, data), (error) => this.#fail(key, context, error));
    } catch (error) {
      thrown = { error };
    }
    mark = outer;
    if (thrown) this.#fail(key, context, thrown.error);
    else if (!thenable) this.#settle(key, context, result);
  }

  /**
   * The handler of a call has the thread from now on.
   *
   * @param {number} key
   * @param {Given} given
   */
  enter(key, given) {
    mark = { shell: this.#shell, key, given, outer: mark, depth: guardDepth() };
  }

  /** The handler that had it last has it no more. */
  leave() {
    mark = mark?.outer;
  }

  /** What a call was made with, whose JavaScript handler runs. @param {number} key */
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
    // Nobody waits for the error of a handler that was told to stop. That it has ended still counts.
    if (context.stopped) return rust.rejected(number, key);
    // One with a code is an answer. Of any other the agent is told the message, and the app the rest.
    // A worker has written of its own.
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
    const { data, unfit } = dataOf(this.#shell, returned);
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
   * A handler is told to stop.
   *
   * @param {number} key
   * @param {string} [reason]
   */
  stop(key, reason) {
    const context = this.#contexts.get(key);
    // One that can be ended may have to be.
    if (!context?.ender) this.#contexts.delete(key);
    context?.stop(reason);
  }

  /** What runs a handler is to be ended. @param {number} key */
  terminate(key) {
    this.#contexts.get(key)?.ender?.terminate();
  }

  /** @param {number} key of a call that is over */
  forget(key) {
    this.#contexts.delete(key);
  }

  /** @param {string} reason why all are told to stop */
  stopAll(reason) {
    for (const context of this.#contexts.values()) {
      context.stop(reason);
      context.ender?.terminate();
    }
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
  /** What ends the handler, if it runs in a worker. @type {Ender | undefined} */
  ender;
  #given;

  /** No member: it is no business of the handler's. @param {Context} context */
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
      this.#shell.rust.progress(this.#shell.number, this.key, copy);
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
      const payload = { capability, params, options: Object(options) };
      return this.#shell.asks.call(this.key, payload, get(options, 'signal'));
    };
  }

  /** Gives objects away: they are moved with the data, where they would be copied. */
  get transfer() {
    return give;
  }

  /** Asks the agent; gives the promise of an ABPResponse. */
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
    if (this.#controller) abortWith(this.#controller, reason);
    this.ender?.stop(reason);
  }
}

/** @param {any} value */
const isThenable = (value) => typeof value?.then === 'function';
