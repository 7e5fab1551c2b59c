/**
 * What Rust calls of a host, which keeps the browser objects that belong to its calls. None of it
 * throws, and none of it decides anything.
 */
import { Context } from './context.js';
import { CAPABILITIES_CHANGED, ELICITATION_WITHDRAWN, progressInfo, response, summaries } from './envelope.js';
import { failure } from './errors.js';
import { failureOf } from './failure-of.js';
import { Guard, guarded, oneWay } from './guard.js';
import { Observed } from './observed.js';
import { inspect } from './inspect.js';
import { newId } from './platform.js';
import { SHORT } from './short.js';
import { Timer } from './timer.js';
import { Validators } from './validators.js';

/** @import { Connection } from './connection.js' */

/** @typedef {{ callId: string, params: any }} Given what a call was made with, which Rust hands back as it is */

export class Shell extends Observed {
  /** @type {Map<number, Connection>} */
  connections = new Map();
  /** Of agents that have left a gateway. @type {Map<number, Connection>} */
  left = new Map();
  /** @type {Map<number, Context>} */
  contexts = new Map();
  /** @type {Map<number, (response: any) => void>} */
  waiting = new Map();
  /** Milliseconds in which an agent that is gone is noticed, while its calls are in flight. */
  liveness = 30_000;
  /** @type {Promise<import('./life/of-agents.js').LifeOfAgents> | undefined} */
  #life;
  #timer = new Timer(() => this.rust.tick(this.number));

  /**
   * @param {any} handle the functions of the wasm half
   * @param {number} number what this host is to them
   * @param {{ id: string, name: string, version: string, description?: string }} app
   * @param {number} depth levels of nesting a message may have
   * @param {number} size characters it may have
   */
  constructor(handle, number, app, depth, size) {
    super();
    /** The functions of the wasm half, which take the number. */
    this.rust = guarded(handle);
    this.number = number;
    this.app = Object.freeze({ ...app });
    this.depth = depth;
    this.size = size;
    this.guard = new Guard(() => this.#lost());
    this.validators = new Validators((key, verdict) => {
      if (verdict) this.#fail(key, true, verdict);
      else this.rust.checked(this.number, key);
    });
  }

  wake() {
    queueMicrotask(this.#runReady);
  }

  #runReady = () => void this.rust.runReady(this.number);

  /** @param {number} at the earliest deadline, in the time of `performance.now()`; infinite for none */
  arm(at) {
    this.#timer.arm(at);
  }

  stopTimer() {
    this.#timer.stop();
  }

  /**
   * @param {number} key
   * @param {string} name
   * @param {Given} given
   */
  check(key, name, given) {
    this.validators.check(key, name, given.params);
  }

  /**
   * @param {number} key
   * @param {(params: any, context: Context) => unknown} handler
   * @param {Given} given
   */
  start(key, handler, given) {
    const context = new Context(this, key, given.callId);
    this.contexts.set(key, context);
    try {
      const result = handler(given.params, context);
      if (isThenable(result)) Promise.resolve(result).then((data) => this.#settle(key, context, data), (error) => this.#fail(key, false, error));
      else this.#settle(key, context, result);
    } catch (error) {
      this.#fail(key, false, error);
    }
  }

  /**
   * @param {number} key
   * @param {Context} context
   * @param {unknown} data
   */
  #settle(key, context, data) {
    const unfit = inspect(data, this.depth, this.size);
    if (unfit) this.#fail(key, false, `The capability returned data that cannot be sent: it ${unfit}`);
    else this.rust.settle(this.number, key, data, context.told);
  }

  /**
   * @param {number} key
   * @param {boolean} checking its parameters
   * @param {unknown} error
   */
  #fail(key, checking, error) {
    this.rust.fail(this.number, 0, key, checking, ...failureOf(error));
  }

  /**
   * @param {number} key
   * @param {string} [reason]
   */
  stop(key, reason) {
    const context = this.contexts.get(key);
    this.contexts.delete(key);
    context?.stop(reason);
  }

  /**
   * A call is over, and nobody waits for it.
   *
   * @param {number} key
   */
  forgetCall(key) {
    this.contexts.delete(key);
  }

  /**
   * The answer to a cancel by the app itself.
   *
   * @param {number} key
   * @param {object} response but for the callId
   */
  confirm(key, response) {
    const resolve = this.waiting.get(key);
    this.waiting.delete(key);
    resolve?.(response);
  }

  /**
   * A call is over.
   *
   * @param {number} key
   * @param {number} to the connection of the agent that made it; 0 for a handler
   * @param {unknown} id
   * @param {number} state
   * @param {unknown} value
   * @param {number} duration
   */
  respond(key, to, id, state, value, duration) {
    this.contexts.delete(key);
    const payload = response(state, value, duration);
    if (to) return this.post(to, 'capabilities/call-result', id, payload);
    const resolve = this.waiting.get(key);
    this.waiting.delete(key);
    return resolve?.(payload);
  }

  /**
   * @param {number} to
   * @param {string} type
   * @param {unknown} id
   * @param {object} payload
   */
  post(to, type, id, payload) {
    const timestamp = Date.now();
    (this.connections.get(to) ?? this.left.get(to))?.deliver(id === undefined ? { type, timestamp, payload } : { type, id, timestamp, payload });
  }

  /**
   * @param {number} to
   * @param {unknown} id
   * @param {string} sessionId
   * @param {any[]} documents
   * @param {boolean} notifications
   * @param {boolean} progress
   * @param {boolean} elicitation
   */
  initialized(to, id, sessionId, documents, notifications, progress, elicitation) {
    const connection = this.connections.get(to);
    const life = connection?.onlost && connection.life;
    this.post(to, 'initialize-result', id, {
      sessionId,
      protocolVersion: '0.1',
      app: this.app,
      capabilities: summaries(documents),
      features: { notifications, progress, elicitation, dynamicCapabilities: true },
      ...(life && { life: {} }),
      ...(connection?.short && { short: SHORT }),
    });
    if (life) this.#watch(connection, life);
  }

  /**
   * @param {Connection} connection of an agent that shows that it lives
   * @param {any} life how, as it said when its session was opened
   */
  #watch(connection, life) {
    // Whoever has no such agents does not load it.
    this.#life ??= import('./life/of-agents.js').then(({ LifeOfAgents }) => new LifeOfAgents(this, newId()));
    this.#life.then((agents) => agents.watch(connection, life)).catch((error) => {
      console.warn('caphost: an agent cannot be watched:', error);
    });
  }

  /**
   * @param {number} to
   * @param {string} type
   * @param {unknown} id
   * @param {object} [error]
   */
  done(to, type, id, error) {
    const over = type === 'shutdown-result';
    // ABP 0.1 has no such message: only a peer that asks for it by an id gets it.
    if (!over || id !== undefined) this.post(to, type, id, error ? { error } : {});
    if (over && !error) this.connections.get(to)?.over();
  }

  /**
   * @param {number} to
   * @param {unknown} id
   * @param {object} payload
   */
  cancelled(to, id, payload) {
    this.post(to, 'capabilities/cancel-result', id, payload);
  }

  /**
   * @param {number} to
   * @param {string} callId
   * @param {unknown} token the agent's, if it gave one
   * @param {object} info
   */
  tellProgress(to, callId, token, info) {
    this.post(to, 'progress', undefined, progressInfo(token ?? callId, info));
  }

  /**
   * @param {number} to
   * @param {number} key
   * @param {object} request
   */
  question(to, key, request) {
    this.post(to, 'elicitation/request', `elicitation-${key}`, request);
  }

  /**
   * @param {number} to
   * @param {number} key
   */
  withdraw(to, key) {
    this.tell(to, ELICITATION_WITHDRAWN, { id: `elicitation-${key}` });
  }

  /**
   * @param {number} to
   * @param {string} event
   * @param {unknown} data
   */
  tell(to, event, data) {
    this.post(to, 'notification', undefined, { event, ...(data !== undefined && { data }) });
  }

  /**
   * @param {number} to
   * @param {string[]} added
   * @param {string[]} removed
   */
  tellChange(to, added, removed) {
    this.tell(to, CAPABILITIES_CHANGED, { added, removed, changed: [] });
  }

  /** @param {number} key a Rust capability whose future is to be polled */
  schedule(key) {
    queueMicrotask(() => this.rust.poll(this.number, key));
  }

  /** The wasm instance is lost. */
  #lost() {
    this.#timer.stop();
    for (const context of this.contexts.values()) context.stop('The host has failed');
    this.contexts.clear();
    for (const resolve of this.waiting.values()) resolve(failure('INTERNAL_ERROR', 'The host has failed'));
    this.waiting.clear();
    for (const connection of this.connections.values()) connection.answerLost();
  }
}

// The rest is called by JavaScript, or runs nothing but this file.
const others = ['constructor', 'arm', 'stopTimer', 'post', 'emit'];
for (const { prototype } of [Shell, Observed]) {
  oneWay(prototype, Object.getOwnPropertyNames(prototype).filter((name) => !others.includes(name)));
}

/** @param {any} value */
const isThenable = (value) => typeof value?.then === 'function';
