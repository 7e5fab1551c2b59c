/**
 * An agent as JavaScript sees it. The rules are all in Rust: this class keeps the promises, signals,
 * callbacks and the timer that belong to them.
 */
import { problemWith } from './call-options.js';
import { failure } from './errors.js';
import { Guard } from './guard.js';
import { Questions } from './questions.js';
import { reasonText } from './reason.js';
import { snapshot } from './snapshot.js';

/**
 * @typedef {object} Pending
 * @property {(response: any) => void} resolve
 * @property {string} [callId] of a cancel
 * @property {Transferable[]} [transfer]
 * @property {(info: any) => void} [onProgress]
 * @property {() => void} [release] removes the listener on the caller's signal
 */

/** How long a peer that may be gone has to show that it is not. */
const SIGN_OF_LIFE = 2000;
const LOST = 'The agent has failed and cannot go on';
const BAD_CALL_ID = 'Bad callId: it is a string of 1 to 128 printable characters';

export class Agent {
  #handle;
  #guard = new Guard(() => this.#lost());
  /** @type {Map<number, Pending>} */
  #pending = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #messenger;
  #options;
  #questions;
  /** @type {(how: string) => void} */
  #close = () => {};

  /** What Rust calls. None of these throws. */
  #shell = {
    wake: () => queueMicrotask(() => this.#enter((handle, shell) => handle.flush(shell))),

    /** @param {number} key @param {any} envelope */
    post: (key, envelope) => {
      try {
        this.#messenger.post(envelope, this.#pending.get(key)?.transfer);
        return undefined;
      } catch (error) {
        return `The message cannot be sent: ${error instanceof Error ? error.message : error}`;
      }
    },

    /** @param {number} key @param {any} response */
    settle: (key, response) => {
      const pending = this.#pending.get(key);
      this.#pending.delete(key);
      pending?.release?.();
      pending?.resolve(response);
    },

    /** @param {number} key */
    callIdOf: (key) => this.#pending.get(key)?.callId,

    /** @param {number} key @param {any} info */
    progress: (key, info) => report(this.#pending.get(key)?.onProgress, info),

    /** @param {number} milliseconds until the earliest deadline; infinite for none */
    arm: (milliseconds) => {
      clearTimeout(this.#timer);
      if (milliseconds === Infinity) return;
      // A timer holds at most 2^31 - 1 ms; one that fires early is set again. Rounded up, because
      // one that fires a fraction too early would spin.
      const delay = Math.min(Math.max(0, Math.ceil(milliseconds)), 0x7fffffff);
      this.#timer = setTimeout(() => this.#enter((handle, shell) => handle.tick(shell)), delay);
    },

    /** @param {string} code */
    ended: (code) => this.#end(code === 'DISCONNECTED' ? 'disconnected' : 'shutdown'),

    /** @param {string} event @param {any} data */
    notified: (event, data) => this.#notified(event, data),

    /** @param {unknown} id @param {any} request */
    asked: (id, request) => void this.#questions.ask(id, request),
  };

  /**
   * @param {any} handle the wasm half
   * @param {import('./messenger.js').Messenger} messenger over which the session was opened
   * @param {any} session the payload of the initialize-result
   * @param {{ onNotification?: (event: string, data: any) => void, onElicitation?: (request: any, context: { signal: AbortSignal }) => any }} options
   */
  constructor(handle, messenger, session, options) {
    this.#handle = handle;
    this.#messenger = messenger;
    this.#options = options;
    this.#questions = new Questions(messenger, options.onElicitation);
    /** @type {string | null} */
    this.sessionId = session.sessionId;
    this.app = session.app;
    this.features = session.features;
    /** @type {any[]} */
    this.capabilities = session.capabilities ?? [];
    /** How the session has ended: 'shutdown', 'disconnected', or 'failed'. */
    this.closed = new Promise((resolve) => {
      this.#close = resolve;
    });
    messenger.onmessage = (envelope) => this.#enter((handle, shell) => handle.receive(shell, envelope));
    messenger.onclose = () => this.#disconnected();
    globalThis.addEventListener?.('pagehide', this.#leave);
    messenger.onsuspect = (certain) => this.#enter((handle, shell) => handle.probe(shell, SIGN_OF_LIFE, certain));
  }

  /**
   * Calls a capability. Never rejects.
   *
   * @param {string} capability
   * @param {object} [params]
   * @param {import('./call-options.js').CallOptions} [options]
   * @returns {Promise<any>} an ABPResponse
   */
  call(capability, params = {}, options = {}) {
    return new Promise((resolve) => {
      try {
        this.#call(resolve, capability, params, options ?? {});
      } catch (error) {
        resolve(failure('INVALID_PARAMS', `The call cannot be made: ${error instanceof Error ? error.message : error}`));
      }
    });
  }

  /**
   * @param {(response: any) => void} resolve
   * @param {string} capability
   * @param {object} params
   * @param {import('./call-options.js').CallOptions} options
   */
  #call(resolve, capability, params, options) {
    const { signal, timeout = Infinity, callId, onProgress, transfer } = options;
    const problem = problemWith(capability, params, options);
    if (problem) return resolve(failure('INVALID_PARAMS', problem));
    const aborted = signal?.aborted ?? false;
    const list = Array.isArray(transfer) ? transfer : [];
    const sent = aborted ? { params } : snapshot(params, list);
    const key = this.#enter((handle) =>
      handle.call(callId, capability, sent.params, timeout, onProgress !== undefined, transfer !== undefined, aborted),
    );
    if (key === 0) return resolve(failure('INVALID_PARAMS', BAD_CALL_ID));
    if (key === undefined) return resolve(failure('INTERNAL_ERROR', LOST));
    /** @type {Pending} */
    const pending = { resolve, onProgress, transfer: sent.transfer };
    if (signal && !aborted) {
      const abort = () => this.#enter((handle, shell) => handle.abort(shell, key, reasonText(signal.reason)));
      signal.addEventListener('abort', abort, { once: true });
      pending.release = () => signal.removeEventListener('abort', abort);
    }
    this.#await(key, pending);
  }

  /**
   * Cancels a call, whoever made it on this session. Never rejects.
   *
   * @param {string} callId
   * @param {unknown} [reason] for logs and the handler: a string, or an Error
   * @returns {Promise<any>} a CancelResponse
   */
  cancel(callId, reason) {
    return new Promise((resolve) => {
      const key = typeof callId === 'string' ? this.#enter((handle) => handle.cancel(callId, reasonText(reason))) : 0;
      if (key) return this.#await(key, { resolve, callId });
      resolve(key === 0 ? cancelFailure(callId, 'INVALID_PARAMS', BAD_CALL_ID) : cancelFailure(callId, 'INTERNAL_ERROR', LOST));
    });
  }

  /**
   * Ends the session: the app cancels what is in flight and answers it.
   *
   * @param {{ reason?: string }} [params]
   * @returns {Promise<void>} when nothing is pending any more
   */
  async shutdown(params) {
    this.#enter((handle, shell) => handle.shutdown(shell, reasonText(params?.reason)));
    await this.closed;
  }

  /**
   * @param {number} key
   * @param {Pending} pending
   */
  #await(key, pending) {
    this.#pending.set(key, pending);
    this.#enter((handle, shell) => handle.drive(shell));
  }

  /**
   * @template T
   * @param {(handle: any, shell: any) => T} work
   */
  #enter(work) {
    return this.#guard.enter(() => work(this.#handle, this.#shell));
  }

  /** @param {string} event @param {any} data */
  #notified(event, data) {
    if (event === 'notifications/host/closed') return this.#disconnected();
    if (event === 'notifications/elicitation/withdrawn') return this.#questions.withdraw(data?.id);
    if (event === 'notifications/capabilities/list_changed') {
      const names = (/** @type {unknown} */ list) => (Array.isArray(list) ? list : []);
      const gone = [...names(data?.added), ...names(data?.removed)];
      const kept = this.capabilities.filter(({ name }) => !gone.includes(name));
      this.capabilities = [...kept, ...names(data?.added).map((name) => ({ name, available: true }))];
    }
    return report(this.#options.onNotification, event, data);
  }

  #disconnected() {
    this.#enter((handle, shell) => handle.disconnected(shell));
  }

  /** The page goes, and nothing else would tell the app: a port just falls silent. */
  #leave = () => void this.shutdown({ reason: 'The agent has left' });

  /** @param {string} how */
  #end(how) {
    clearTimeout(this.#timer);
    globalThis.removeEventListener?.('pagehide', this.#leave);
    this.sessionId = null;
    this.#questions.close();
    this.#messenger.close();
    this.#close(how);
  }

  /** The wasm instance is lost. */
  #lost() {
    const pending = [...this.#pending.values()].sort((a, b) => Number(b.callId !== undefined) - Number(a.callId !== undefined));
    this.#pending.clear();
    for (const { callId, release, resolve } of pending) {
      release?.();
      resolve(callId === undefined ? failure('INTERNAL_ERROR', LOST) : cancelFailure(callId, 'INTERNAL_ERROR', LOST));
    }
    this.#end('failed');
  }
}

/** @param {unknown} callId @param {string} code @param {string} message */
const cancelFailure = (callId, code, message) => ({ callId, cancelled: false, reason: message, error: failure(code, message).error });

/**
 * A callback's failure is its owner's, and disturbs nothing here.
 *
 * @param {((...args: any[]) => unknown) | undefined} callback
 * @param {any[]} args
 */
function report(callback, ...args) {
  try {
    callback?.(...args);
  } catch (error) {
    (globalThis.reportError ?? console.error)(error);
  }
}
