/**
 * An agent as JavaScript sees it. All rules are in Rust: this class keeps the promises, signals,
 * callbacks and the timer that belong to them.
 */
import { cancelConfirmation, cancelled, cancelResponse } from './envelope.js';
import { BAD_CALL_ID, abpError, failure, report, text, thrown } from './errors.js';
import { CAPABILITIES_CHANGED, ELICITATION_WITHDRAWN, HOST_CLOSED } from './events.js';
import { errorOf, receiveCompleted, receiveFromApp } from './from-app.js';
import { Guard, cancelsFirst, guarded, oneWay } from './guard.js';
import { idsOf } from './ids.js';
import { isPlain } from './plain.js';
import { Caller } from './invoke.js';
import { LIST, complete, isNamed, listOf } from './listing.js';
import { onWindow } from './on-window.js';
import { soon } from './platform.js';
import { Questions } from './questions.js';
import { MAX_NAME, bare, get, getA, isAmount, isObject, warnOfUnknown } from './read.js';
import { NO_SIGNAL, reasonText } from './signal.js';
import { completed } from './short.js';
import { snapshot } from './snapshot.js';
import { Timer } from './timer.js';
import { carry } from './transfer.js';

/** @import { CallOptions } from '../../../npm/agent.js' */

/**
 * @typedef {object} Pending
 * @property {(response: any) => void} resolve
 * @property {object} [payload] the payload of a call, until the call is sent
 * @property {string} [callId] of a cancel
 * @property {Transferable[]} [transfer] the objects moved with a call, until the call is sent
 * @property {(info: any) => void} [onProgress]
 * @property {() => void} [release] removes the listener on the caller's signal
 */

const CALL = 'capabilities/call';

/** The options of a call. */
const KNOWN = ['signal', 'timeout', 'callId', 'onProgress', 'transfer', 'progressToken'];
/** It must hold nothing that leads to the agent, such as a closure made in the constructor. @type {FinalizationRegistry<[any, number]>} */
const unreachable = new FinalizationRegistry(([rust, number]) => rust.forget(number));
const LOST = 'The agent has failed and cannot go on';

export class Agent extends Caller {
  #rust;
  #ids;
  #number;
  #guard;
  /** @type {Map<number, Pending>} */
  #pending = new Map();
  #timer = new Timer(() => this.#rust.tick(this.#number, this.#shell));
  /** Whether there are calls that the next microtask sends. */
  #flushing = false;
  /** @type {any} */
  #messenger;
  #options;
  /** @type {any} */
  #questions;
  /** @type {(how: string) => void} */
  #close = () => {};
  #lending;
  /** Whether the app accepts functions in parameters. */
  #accepts = false;
  /** @type {import('./again/reconnect.js').Again | undefined} until this agent is over */
  #again;

  /** The functions that Rust calls. None of them throws. */
  #shell = {
    /** @param {number} key @param {number} timeout NaN for none */
    sendCall: (key, timeout) => {
      const pending = this.#pending.get(key);
      if (!pending) return;
      const { payload, transfer } = pending;
      pending.payload = pending.transfer = undefined;
      if (timeout >= 0) /** @type {any} */ (payload).options.timeout = timeout;
      this.#post(key, CALL, payload, transfer);
    },

    /** @param {number} key @param {string} callId @param {string} [reason] */
    sendCancel: (key, callId, reason) =>
      this.#post(key, 'capabilities/cancel', { callId, ...(reason !== undefined && { reason }) }),

    /** @param {number} key */
    sendList: (key) => this.#post(key, LIST, {}),

    /** @param {number} key @param {string} [reason] */
    sendShutdown: (key, reason) => this.#post(key, 'shutdown', { ...(reason !== undefined && { reason }) }),

    /** @param {number} key @param {any} response */
    settle: (key, response) => {
      const pending = this.#pending.get(key);
      this.#pending.delete(key);
      report(pending?.release);
      pending?.resolve(response);
    },

    /** @param {number} key @param {object} error */
    fail: (key, error) => this.#shell.settle(key, { success: false, error: this.#explained(error) }),

    /** @param {number} key @param {unknown} stop how far it was seen */
    stopped: (key, stop) => this.#shell.settle(key, cancelled(stop)),

    /** @param {number} key @param {unknown} stop @param {object} [ended] */
    confirm: (key, stop, ended) => this.#shell.settle(key, cancelConfirmation(this.#pending.get(key)?.callId, stop, ended)),

    /** @param {number} key @param {string} [reason] @param {object} [error] */
    refuse: (key, reason, error) => this.#shell.settle(key, cancelResponse(this.#pending.get(key)?.callId, reason, this.#explained(error))),

    /** @param {number} key @param {any} info */
    progress: (key, info) => report(this.#pending.get(key)?.onProgress, info),

    /** @param {number} at the earliest deadline, in the time of `performance.now()`; infinite for none */
    arm: (at) => this.#timer.arm(at),

    /** The connection is lost, and this agent connects again. */
    lost: () => {
      this.#part();
      this.#again?.lost();
    },

    /** @param {boolean} disconnected rather than shut down */
    ended: (disconnected) => this.#end(disconnected ? 'disconnected' : 'shutdown'),
  };

  /**
   * @param {any} handle the functions of the wasm half
   * @param {import('./messenger.js').Messenger} messenger over which the session was opened
   * @param {any} session the payload of the initialize-result
   * @param {import('./open.js').OpenOptions} options
   * @param {import('./again/reconnect.js').Again} [again] connects this agent again
   * @param {() => Promise<typeof import('./callbacks/lend.js')>} [lending] loads the part for functions in parameters
   */
  constructor(handle, messenger, session, options, again, lending) {
    super();
    this.#rust = guarded(handle);
    this.#guard = new Guard(handle, () => this.#lost());
    this.#ids = idsOf(this.#rust);
    const { grace = NaN, liveness = Infinity } = options;
    this.#number = this.#rust.open(grace, liveness, session.life !== undefined, again !== undefined);
    oneWay(this.#shell, ['sendCall', 'sendCancel', 'sendList', 'sendShutdown', 'progress', 'lost', 'ended']);
    unreachable.register(this, [this.#rust, this.#number]);
    this.#options = options;
    this.#again = again;
    this.#lending = lending;
    /** How the session ended: 'shutdown', 'disconnected', or 'failed'. */
    this.closed = new Promise((resolve) => {
      this.#close = resolve;
    });
    this.#adopt(messenger, session);
    again?.begin(session.app, (next, its) => {
      if (!next) return this.#rust.giveUp(this.#number, this.#shell);
      this.#adopt(next, its);
      return this.#rust.reconnected(this.#number, this.#shell, its.life !== undefined);
    });
    this.#stay = onWindow('pagehide', this.#leave);
    // The instance was lost before this agent was made.
    if (this.#guard.trap !== undefined) this.#lost();
  }

  /**
   * Uses a session that was opened over that messenger.
   *
   * @param {import('./messenger.js').Messenger} messenger
   * @param {any} session the payload of the initialize-result
   */
  #adopt(messenger, session) {
    this.#messenger = messenger;
    this.#questions = new Questions(messenger, this.#options.onElicitation);
    /** @type {string | null} */
    this.sessionId = session.sessionId;
    this.app = session.app;
    this.features = session.features;
    this.#accepts = session.callbacks === true;
    /** @type {any[]} */
    this.capabilities = listOf(session.capabilities).filter(isNamed);
    messenger.onmessage = (envelope) => this.#receive(envelope);
    messenger.onresult = (id, data, duration) => receiveCompleted(this.#rust, this.#number, this.#shell, id, completed(data, duration));
    messenger.onclose = this.#disconnected;
    messenger.onsuspect = (certain) => this.#rust.suspect(this.#number, this.#shell, certain);
    messenger.onexpect = (bytes) => this.#rust.expect(this.#number, this.#shell, bytes);
  }

  /** Whether this agent is connected, once it is or will not be any more. @returns {Promise<boolean>} */
  get ready() {
    return this.#again?.ready ?? Promise.resolve(this.sessionId !== null);
  }

  /**
   * Calls a capability. Never rejects.
   *
   * @param {string} capability
   * @param {object} [params]
   * @param {CallOptions} [options]
   * @returns {Promise<any>} an ABPResponse
   */
  call(capability, params, options) {
    return this.begin(capability, params, options).response;
  }

  /**
   * Does the same, and says which id the call has, whether it can be made or not.
   *
   * @param {string} capability
   * @param {object} [params]
   * @param {CallOptions} [options]
   * @returns {{ callId: string, response: Promise<any> }}
   */
  begin(capability, params = {}, options = {}) {
    /** @type {string | undefined} */
    let callId;
    const response = new Promise((resolve) => {
      try {
        callId = this.#call(resolve, capability, params, options ?? {});
      } catch (error) {
        resolve(failure('INVALID_PARAMS', `The call cannot be made: ${text(error)}`));
      }
    });
    return { callId: callId ?? this.#ids.next(), response };
  }

  /**
   * @param {(response: any) => void} resolve
   * @param {string} capability
   * @param {object} params
   * @param {CallOptions} given
   * @returns {string | undefined} its id, if it has one
   */
  #call(resolve, capability, params, given) {
    const options = bare(given, KNOWN);
    if (!isObject(options)) return void resolve(failure('INVALID_PARAMS', 'options must be an object'));
    warnOfUnknown('call', options, KNOWN);
    const { signal, timeout = Infinity, callId, onProgress, transfer } = options;
    const unfit = problemWith(capability, params, { signal, timeout, callId, onProgress, transfer });
    if (unfit) {
      resolve(failure('INVALID_PARAMS', unfit));
      return callId;
    }
    const aborted = signal?.aborted === true;
    const sent = aborted ? { params } : snapshot(params, Array.isArray(transfer) ? transfer : undefined);
    /** @type {Record<string, any>} */
    const asked = { __proto__: null, callId };
    const place = this.#ids.name(asked);
    const key = this.#rust.call(this.#number, (callId ?? '').slice(0, MAX_NAME), place, timeout, aborted);
    if (!key) {
      resolve({ success: false, error: key === 0 ? BAD_CALL_ID : this.#guard.lost(LOST) });
      return callId;
    }
    if (onProgress) asked.progressToken = asked.callId;
    if (transfer) asked.transfer = true;
    const payload = { capability, params: sent.params, options: asked };
    /** @type {Pending} */
    const pending = { resolve, payload, transfer: sent.transfer, onProgress, release: undefined };
    if (signal && !aborted) {
      const abort = () => this.#rust.abort(this.#number, this.#shell, key, reasonText(signal.reason));
      signal.addEventListener('abort', abort, /** @type {any} */ ({ __proto__: null, once: true }));
      pending.release = () => signal.removeEventListener('abort', abort);
    }
    this.#pending.set(key, pending);
    if (!this.#flushing) {
      this.#flushing = true;
      soon(this.#flush);
    }
    return asked.callId;
  }

  /**
   * Calls a capability, whose parameters hold functions.
   *
   * @param {object} params
   * @param {(params: object, transfer: object[]) => Promise<any>} invoke
   * @param {CallOptions['transfer']} transfer
   * @returns {Promise<any>}
   */
  async lend(params, invoke, transfer) {
    if (this.sessionId === null) await this.ready;
    const part = await this.#lending?.();
    return part?.lend(this, this.#accepts, params, (lent, port) => invoke(lent, [...(Array.isArray(transfer) ? transfer : []), port]), { abpError, carry, isPlain });
  }

  #flush = () => {
    this.#flushing = false;
    this.#rust.flush(this.#number, this.#shell);
  };

  /**
   * Cancels any call of this session. Never rejects.
   *
   * @param {string} callId
   * @param {unknown} [reason] for logs and the handler: a string, or an Error
   * @returns {Promise<any>} a CancelResponse
   */
  cancel(callId, reason) {
    return new Promise((resolve) => {
      const key = typeof callId === 'string' ? this.#rust.cancel(this.#number, callId.slice(0, MAX_NAME), reasonText(reason)) : 0;
      if (!key) return resolve(refusal(callId, key === 0 ? BAD_CALL_ID : this.#guard.lost(LOST)));
      this.#pending.set(key, { resolve, callId });
      return this.#rust.drive(this.#number, this.#shell);
    });
  }

  /** @returns {Promise<any[]>} the Capability objects of the app */
  async listCapabilities() {
    if (this.sessionId === null) await this.ready;
    const known = this.capabilities;
    const { capabilities, error } = await new Promise((resolve) => {
      const key = this.#rust.list(this.#number);
      if (!key) return resolve({ error: this.#guard.lost(LOST) });
      this.#pending.set(key, { resolve });
      return this.#rust.drive(this.#number, this.#shell);
    });
    if (!capabilities) throw thrown(errorOf(error));
    return complete(capabilities, known);
  }

  /** @param {string} name @returns {Promise<any>} its Capability object; null if there is none */
  async describeCapability(name) {
    return (await this.listCapabilities()).find((it) => it.name === name) ?? null;
  }

  /**
   * Ends the session: the app cancels the calls in flight and answers them.
   *
   * @param {{ reason?: string }} [params]
   * @returns {Promise<void>} settles when nothing is pending any more
   */
  async shutdown(params) {
    this.#rust.shutdown(this.#number, this.#shell, reasonText(params?.reason));
    await this.closed;
  }

  /**
   * @param {number} key
   * @param {string} type
   * @param {any} payload
   * @param {Transferable[]} [transfer]
   */
  #post(key, type, payload, transfer) {
    try {
      const { postCall } = this.#messenger;
      const bytes = postCall && type === CALL
        ? postCall(key, payload, transfer)
        : this.#messenger.post({ type, id: String(key), timestamp: Date.now(), payload }, transfer);
      // The messenger may be anybody's.
      if (typeof bytes === 'number' && bytes > 0) this.#rust.uploads(this.#number, this.#shell, key, bytes);
    } catch (error) {
      this.#rust.unsendable(this.#number, this.#shell, key, `The message cannot be sent: ${text(error)}`);
    }
  }

  /** @param {any} envelope */
  #receive(envelope) {
    receiveFromApp(this.#rust, this.#number, this.#shell, envelope);
    const [type, payload] = [get(envelope, 'type'), get(envelope, 'payload')];
    if (type === 'elicitation/request') this.#questions.ask(get(envelope, 'id'), payload);
    else if (type === 'notification') this.#notified(getA('string', payload, 'event'), get(payload, 'data'));
  }

  /** @param {string | undefined} event @param {any} data */
  #notified(event, data) {
    // The app does not need to see messages about signs of life.
    if (event === undefined) return undefined;
    if (event.startsWith('notifications/life/')) return this.#messenger.life?.receive?.(event, data, this.#messenger);
    if (event === HOST_CLOSED) return this.#disconnected();
    if (event === ELICITATION_WITHDRAWN) return this.#questions.withdraw(get(data, 'id'));
    if (event === CAPABILITIES_CHANGED) {
      const come = [...listOf(get(data, 'added')), ...listOf(get(data, 'changed'))];
      const gone = new Set([...come, ...listOf(get(data, 'removed'))]);
      const kept = this.capabilities.filter(({ name }) => !gone.has(name));
      this.capabilities = [...kept, ...come.map((name) => ({ name, available: true }))];
    }
    return report(this.#options.onNotification, event, data);
  }

  /** Adds the transport's knowledge of why nobody answered to an error of ours. @param {any} error */
  #explained(error) {
    const { stuck } = this.#messenger;
    return stuck && error?.code === 'TIMEOUT' ? { ...error, message: `${error.message}. ${stuck}` } : error;
  }

  #disconnected = () => void this.#rust.disconnected(this.#number, this.#shell);

  #stay;

  /**
   * The user leaves the page, and nothing else would tell the app: a port simply becomes silent. If the
   * page comes back, the session ends as a lost connection, because nobody has asked for a shutdown.
   */
  #leave = () => {
    if (this.sessionId === null) return;
    report(() => this.#messenger.post({ type: 'shutdown', timestamp: Date.now(), payload: { reason: 'The page of the agent was left' } }));
    this.#disconnected();
  };

  /** The session is over. */
  #part() {
    const messenger = this.#messenger;
    this.sessionId = null;
    this.#questions.close();
    // The messenger may be anybody's, and say something after its end.
    messenger.onmessage = messenger.onclose = undefined;
    report(() => messenger.close());
  }

  /** @param {string} how */
  #end(how) {
    this.#timer.stop();
    this.#stay();
    if (this.sessionId !== null) this.#part();
    this.#again?.end();
    this.#again = undefined;
    this.#close(how);
  }

  /** The wasm instance is lost. */
  #lost() {
    const pending = cancelsFirst(this.#pending.values(), ({ callId }) => callId !== undefined);
    this.#pending.clear();
    const error = this.#guard.lost(LOST);
    for (const { callId, release, resolve } of pending) {
      report(release);
      resolve(callId === undefined ? { success: false, error } : refusal(callId, error));
    }
    // If the session was already over, `closed` has said so.
    if (this.sessionId !== null || this.#again) this.#end('failed');
  }
}

/** @param {unknown} callId @param {{ message: string }} error */
const refusal = (callId, error) => cancelResponse(callId, error.message, error);

/**
 * The problem with the arguments of a call, except for the callId, whose rule is in Rust.
 *
 * @param {unknown} capability
 * @param {unknown} params
 * @param {any} options
 * @returns {string | undefined}
 */
function problemWith(capability, params, { signal, timeout, callId, onProgress, transfer }) {
  if (typeof capability !== 'string') return 'capability must be a string';
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return 'params must be an object';
  if (callId !== undefined && typeof callId !== 'string') return 'callId must be a string';
  if (timeout !== undefined && !isAmount(timeout)) return 'timeout must be a number of milliseconds, not negative';
  if (signal != null && typeof signal.addEventListener !== 'function') return NO_SIGNAL;
  if (onProgress !== undefined && typeof onProgress !== 'function') return 'onProgress must be a function';
  if (transfer !== undefined && transfer !== true && !Array.isArray(transfer)) return 'transfer must be an array';
  return undefined;
}
