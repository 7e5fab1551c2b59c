/**
 * The functions of a host that Rust calls, apart from those of its parts. They pass messages on to
 * agents and to waiting parties. None of them throws, and none of them decides anything.
 */
import { Asks } from './asks.js';
import { Capabilities } from './capabilities.js';
import { rounded } from './envelope.js';
import { log } from './errors.js';
import { CAPABILITIES_CHANGED, ELICITATION_WITHDRAWN } from './events.js';
import { failureOf } from './failure.js';
import { Guard, guarded, oneWay } from './guard.js';
import { LifeOfAgents } from './life/of-agents.js';
import { idsOf } from './ids.js';
import { inspect } from './inspect.js';
import { loadPart } from './part.js';
import { soon } from './platform.js';
import { Running, settleTerminated } from './running.js';
import { SHORT } from './short.js';
import { Timeline } from './timeline.js';
import { Timer } from './timer.js';
import { hasCompleted, progressInfo, response, summaries } from './to-agent.js';

/** @import { Connection } from './connection.js' */
/** @import { Given } from './running.js' */

/** Milliseconds until the answers to those who waited for the end of a job have been sent. */
const ANSWERED = 250;

export class Shell {
  /** @type {Map<number, Connection>} */
  connections = new Map();
  /** The connections of agents that have left a gateway. @type {Map<number, Connection>} */
  left = new Map();
  capabilities = new Capabilities(this);
  running = new Running(this);
  asks = new Asks(this);
  timeline = new Timeline();
  closed = false;
  /** Whether nothing may start now. */
  later = false;
  /** Milliseconds after which the host notices that an agent with calls in flight is gone. */
  liveness = 30_000;
  /** Milliseconds that a handler has to end once it was told to stop. */
  settleGrace = 50;
  /** Whether a JSON-RPC agent is sent cancels even if it has not declared that it accepts them. */
  cancelUndeclared = false;
  /** @type {LifeOfAgents | undefined} */
  #life;
  #timer = new Timer(() => {
    settleTerminated();
    this.rust.tick(this.number);
  });
  #runReady = () => void this.rust.runReady(this.number);

  /**
   * @param {any} handle the functions of the wasm half
   * @param {number} number the host's number
   * @param {{ id: string, name: string, version: string, description?: string }} app
   * @param {number} depth levels of nesting a message may have
   * @param {number} size characters it may have
   */
  constructor(handle, number, app, depth, size) {
    this.handle = handle;
    /** The functions of the wasm half, guarded. They take the host's number. */
    this.rust = guarded(handle);
    this.number = number;
    this.ids = idsOf(this.rust);
    this.app = Object.freeze({ ...app });
    this.depth = depth;
    this.size = size;
    this.guard = new Guard(handle, () => this.#lost());
  }

  wake() {
    if (!this.later) soon(this.#runReady);
  }

  /**
   * The job in which a handler ran was ended from outside, and the work that waited to run after it is
   * lost. Handlers that would start now start in a task of their own: they may hold the thread as well,
   * and the answers should be sent before that.
   *
   * @param {number} key
   * @param {string} [cancelled] the callId of the call for which that was done
   */
  terminated(key, cancelled = '') {
    this.later = true;
    this.rust.terminated(this.number, key, cancelled);
    this.later = false;
    setTimeout(this.#runReady, ANSWERED);
  }

  /** @param {number} at the earliest deadline, in the time of `performance.now()`; infinite for none */
  arm(at) {
    this.#timer.arm(at);
  }

  /** Removes all deadlines. */
  disarm() {
    this.#timer.stop();
  }

  /**
   * @param {number} key
   * @param {string} name
   * @param {Given} given
   */
  check(key, name, given) {
    this.capabilities.validators.check(key, name, given);
  }

  /**
   * A person is asked whether a call may start, or has allowed it.
   *
   * @param {number} key
   * @param {any} call
   * @param {Given} given
   * @param {number} asked 1 if the app asks, 2 if the agent does; 0 if the call is allowed
   */
  consent(key, call, { params }, asked) {
    this.timeline.emit({ type: 'confirm', ...call, params, state: asked ? 'asked' : 'allowed', ...(asked === 1 && { question: key }) });
    this.rust.progress(this.number, key, { progress: 0, status: asked ? 'Waits for a person' : 'Allowed' });
    // An app that asks no agent does not load the code for it.
    if (asked === 2) loadPart(() => import('./consent/ask-agent.js')).then((it) => it.askAgent(this, key, call, params)).catch(() => this.rust.consent(this.number, key, 0));
  }

  /**
   * Reports that the parameters of a call do not fit, or that its handler has failed.
   *
   * @param {number} key
   * @param {boolean} checking its parameters
   * @param {unknown} error
   */
  fail(key, checking, error) {
    this.rust.fail(this.number, key, checking, failureOf(error, this));
  }

  /**
   * Reports the end of a call.
   *
   * @param {number} key
   * @param {number} to the connection of the agent that made it; 0 for a handler
   * @param {unknown} id
   * @param {number} state
   * @param {unknown} value
   * @param {number} duration
   */
  respond(key, to, id, state, value, duration) {
    this.running.forget(key);
    const connection = to ? this.connections.get(to) : undefined;
    if (connection?.short && hasCompleted(state)) return connection.deliverResult(id, value, rounded(duration));
    const payload = response(state, value, duration);
    return to ? this.post(to, 'capabilities/call-result', id, payload) : this.asks.settle(key, payload);
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
   * @param {{ notifications: boolean, progress: boolean, elicitation: boolean }} features
   */
  initialized(to, id, sessionId, documents, features) {
    const connection = this.connections.get(to);
    const life = connection?.onlost && connection.life;
    this.post(to, 'initialize-result', id, {
      sessionId,
      protocolVersion: '0.1',
      app: this.app,
      capabilities: summaries(documents),
      features: { ...features, dynamicCapabilities: true },
      ...(life && { life: {} }),
      // The page itself sends no messages in their short form.
      ...(connection?.short && !connection.messenger.local && { short: SHORT }),
      ...(connection?.messenger.objects && { callbacks: true }),
    });
    if (life) {
      this.#life ??= new LifeOfAgents(this, this.ids.next());
      void this.#life.watch(connection, life);
    }
  }

  /**
   * @param {number} to
   * @param {string} type
   * @param {unknown} id
   * @param {object} [error]
   */
  done(to, type, id, error) {
    const over = type === 'shutdown-result';
    // ABP 0.1 has no such message: only a peer that asks with an id gets it.
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
    const unfit = inspect(info, this.depth, this.size);
    if (unfit) return log('warn', `progress of the call ${callId} is dropped: it ${unfit}`);
    return this.post(to, 'progress', undefined, progressInfo(token ?? callId, info));
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

  /** @param {number} agent that gives no sign of life */
  lose(agent) {
    this.connections.get(agent)?.onlost?.();
  }

  /**
   * @param {number} to
   * @param {string[]} added
   * @param {string[]} removed
   * @param {string[]} changed
   */
  tellChange(to, added, removed, changed) {
    this.tell(to, CAPABILITIES_CHANGED, { added, removed, changed });
  }

  /** @param {number} key the call of a Rust capability whose future should be polled */
  schedule(key) {
    soon(() => this.rust.poll(this.number, key));
  }

  /** The wasm instance is lost. */
  #lost() {
    this.disarm();
    this.asks.fail();
    for (const connection of this.connections.values()) connection.answerLost();
    // The app's own listeners are called after the answers.
    const error = this.guard.lost('The host has failed');
    this.timeline.fail(error);
    this.running.stopAll(error.message);
  }
}

// The other methods are called by JavaScript, or run only code of their own file.
const others = ['constructor', 'arm', 'disarm', 'fail', 'post', 'terminated', 'emit', 'add', 'delete', 'watched'];
for (const { prototype } of [Shell, Timeline]) {
  oneWay(prototype, Object.getOwnPropertyNames(prototype).filter((name) => !others.includes(name)));
}
oneWay(Running.prototype, ['start', 'stop']);
