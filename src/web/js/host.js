/**
 * A page's host, as JavaScript sees it and as Rust calls back into JavaScript. The rules are all
 * in Rust: this class keeps the browser objects that belong to them.
 */
import { acceptMessages } from './accept-messages.js';
import { acceptPort } from './accept-port.js';
import { internalError, text } from './connection.js';
import { Context } from './context.js';
import { GatewayLink } from './gateway-link.js';
import { Guard } from './guard.js';
import { exposeAbp } from './in-page.js';
import { inspect } from './platform.js';
import { Validators } from './validators.js';

/** @import { Connection, Envelope } from './connection.js' */

export class Host {
  /** @type {Map<number, Connection>} */
  connections = new Map();
  /** @type {Map<number, Context>} */
  #contexts = new Map();
  /** @type {Map<number, (response: any) => void>} */
  #waiting = new Map();
  /** @type {Set<(event: any) => void>} */
  #observers = new Set();
  /** @type {Set<() => void>} */
  #closers = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #validators;
  #closed = false;

  /**
   * @param {any} handle the wasm half
   * @param {{ id: string, name: string, version: string, description?: string }} app
   */
  constructor(handle, app) {
    this.handle = handle;
    this.app = app;
    this.guard = new Guard(() => this.#lost());
    this.#validators = new Validators((key, verdict) => {
      this.guard.enter(() => handle.checked(key, verdict));
    });
  }

  // The public interface.

  /**
   * @param {string} name
   * @param {any} description
   * @param {(params: any, context: Context) => unknown} handler
   */
  register(name, description, handler) {
    this.#ensureOpen();
    if (typeof name !== 'string') throw invalid('A capability has a name');
    if (typeof handler !== 'function') throw invalid(`${name}: the handler is a function`);
    try {
      JSON.stringify(description);
    } catch (error) {
      throw invalid(`${name}: the description is no JSON: ${text(error)}`);
    }
    const refused = this.handle.register(name, description ?? {}, handler);
    if (refused) throw refused;
  }

  /** @param {string} name */
  unregister(name) {
    const removed = this.guard.enter(() => this.handle.unregister(String(name))) ?? false;
    if (removed) {
      this.#validators.delete(name);
      this.changed();
    }
    return removed;
  }

  /** Puts `abp` on the window, or on another object. */
  expose(target = globalThis) {
    this.#ensureOpen();
    this.#closers.add(exposeAbp(this, target));
  }

  /** @param {{ allowedOrigins?: string[] }} [options] */
  acceptMessages(options = {}) {
    this.#ensureOpen();
    this.#closers.add(acceptMessages(this, options));
  }

  /** @param {any} port a MessagePort, a Worker, the inside of a worker, or an extension's port */
  acceptPort(port) {
    this.#ensureOpen();
    const close = acceptPort(this, port, () => this.#closers.delete(close));
    this.#closers.add(close);
  }

  /**
   * @param {string} url
   * @param {{ token?: string, WebSocket?: any }} [options]
   */
  connectGateway(url, options = {}) {
    this.#ensureOpen();
    let link;
    try {
      link = new GatewayLink(this, url, options);
    } catch (error) {
      throw invalid(`Cannot connect to ${url}: ${text(error)}`);
    }
    this.#links.add(link);
    this.#closers.add(link.close);
  }

  /** @type {Set<GatewayLink>} */
  #links = new Set();

  /** The manifest of what is registered. */
  manifest() {
    const capabilities = this.documents().map(({ name, description, inputSchema, outputSchema }) => ({
      name,
      description,
      inputSchema,
      outputSchema,
    }));
    return { abp: '0.1', app: this.app, capabilities };
  }

  /** @returns {any[]} the Capability objects of what is registered */
  documents() {
    return this.guard.enter(() => this.handle.documents()) ?? [];
  }

  /**
   * Sends every agent that takes notifications one of the app's.
   *
   * @param {string} event
   * @param {unknown} [data]
   */
  notify(event, data) {
    this.guard.enter(() => this.handle.notify(String(event), data));
  }

  /**
   * The app cancels a call of one of its agents.
   *
   * @param {string} sessionId
   * @param {string} callId
   * @param {string} [reason]
   */
  async cancelCall(sessionId, callId, reason) {
    const text = typeof reason === 'string' ? reason : undefined;
    const response = this.guard.enter(() => this.handle.cancelCall(String(sessionId), String(callId), text));
    return response ?? { callId, cancelled: false, error: internalError('The host has failed') };
  }

  /**
   * @param {(event: any) => void} listener called with every step of every call
   * @returns {() => void} stops it
   */
  observe(listener) {
    this.#observers.add(listener);
    this.guard.enter(() => this.handle.watch(true));
    return () => {
      this.#observers.delete(listener);
      if (this.#observers.size === 0) this.guard.enter(() => this.handle.watch(false));
    };
  }

  /** What is held and what was counted. */
  stats() {
    return { ...this.guard.enter(() => this.handle.stats()), contexts: this.#contexts.size };
  }

  /** Ends every session: what is in flight is cancelled and answered. */
  close() {
    if (this.#closed) return;
    this.#closed = true;
    for (const connection of this.connections.values()) {
      connection.receive({ type: 'shutdown', payload: { reason: 'The host was closed' } });
    }
    for (const close of [...this.#closers]) close();
    this.#closers.clear();
    clearTimeout(this.#timer);
    this.guard.enter(() => this.handle.release());
  }

  // What Rust calls. None of these throws.

  /** @param {string} name a capability registered from here or from Rust */
  registered(name) {
    const document = this.documents().find((it) => it.name === name);
    this.#validators.set(name, document?.inputSchema);
    this.changed();
  }

  wake() {
    queueMicrotask(() => this.guard.enter(() => this.handle.runReady()));
  }

  /** @param {number} milliseconds until the earliest deadline; infinite for none */
  arm(milliseconds) {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (milliseconds === Infinity) return;
    // A timer holds at most 2^31 - 1 ms; one that fires early is set again. Rounded up, because
    // one that fires a fraction too early would spin.
    const delay = Math.min(Math.max(0, Math.ceil(milliseconds)), 0x7fffffff);
    this.#timer = setTimeout(() => this.guard.enter(() => this.handle.tick()), delay);
  }

  /**
   * @param {number} key
   * @param {string} callId
   * @param {(params: any, context: Context) => unknown} handler
   * @param {unknown} params
   */
  start(key, callId, handler, params) {
    const context = new Context(this, key, callId);
    this.#contexts.set(key, context);
    /** @param {unknown} data */
    const settle = (data) => this.guard.enter(() => this.handle.settle(key, data));
    /** @param {unknown} error */
    const fail = (error) => this.guard.enter(() => this.handle.fail(key, error, isAbortError(error)));
    try {
      const result = handler(params, context);
      if (isThenable(result)) Promise.resolve(result).then(settle, fail);
      else settle(result);
    } catch (error) {
      fail(error);
    }
  }

  /**
   * @param {number} key
   * @param {string} [reason]
   */
  stop(key, reason) {
    const context = this.#contexts.get(key);
    this.#contexts.delete(key);
    context?.stop(reason);
  }

  /** @param {number} key a call that is over */
  ended(key) {
    this.#contexts.delete(key);
  }

  /**
   * @param {number} to
   * @param {Envelope} envelope
   */
  post(to, envelope) {
    this.connections.get(to)?.deliver(envelope);
  }

  /**
   * @param {number} key
   * @param {string} name
   * @param {unknown} params
   */
  check(key, name, params) {
    return this.#validators.check(key, name, params);
  }

  /**
   * @param {number} key
   * @param {unknown} response
   */
  answer(key, response) {
    const resolve = this.#waiting.get(key);
    this.#waiting.delete(key);
    resolve?.(response);
  }

  /** @param {any} event */
  emit(event) {
    for (const observer of this.#observers) {
      try {
        observer(event);
      } catch (error) {
        reportError(error);
      }
    }
  }

  /** @param {number} key a Rust capability whose future is to be polled */
  schedule(key) {
    queueMicrotask(() => this.guard.enter(() => this.handle.poll(key)));
  }

  // What the transports and contexts call.

  /**
   * Waits for the answer that comes under the key `ask` gives.
   *
   * @param {(handle: any) => number} ask
   * @param {(key: number) => void} [asked]
   * @returns {Promise<any>}
   */
  await(ask, asked) {
    return new Promise((resolve) => {
      const key = this.guard.enter(() => ask(this.handle));
      if (!key) {
        resolve({ success: false, error: internalError('The host has failed or is closed') });
        return;
      }
      this.#waiting.set(key, resolve);
      asked?.(key);
      this.guard.enter(() => this.handle.drive());
    });
  }

  /**
   * @param {number} parent
   * @param {{ capability: string, params: object, options: { callId?: string } }} payload
   * @param {AbortSignal} [signal]
   */
  async callFrom(parent, payload, signal) {
    if (signal != null && !isSignal(signal)) return { success: false, error: BAD_SIGNAL };
    if (signal?.aborted) return { success: false, cancelled: true };
    let child = 0;
    const abort = () => this.guard.enter(() => this.handle.cancelKey(child, reasonText(signal?.reason)));
    signal?.addEventListener('abort', abort);
    const envelope = { type: 'capabilities/call', payload };
    try {
      return await this.await(
        (handle) => handle.callFrom(parent, envelope),
        (key) => (child = key),
      );
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /**
   * Asks an agent.
   *
   * @param {any} request
   * @param {(handle: any) => number} ask
   */
  async ask(request, ask) {
    const timeout = request?.timeout;
    const problem =
      typeof request !== 'object' || request === null || Array.isArray(request)
        ? 'is no object'
        : timeout !== undefined && !(typeof timeout === 'number' && timeout >= 0)
          ? 'has a bad timeout: it is a number of milliseconds, not negative'
          : inspect(request, DEPTH, SIZE);
    if (problem) return { success: false, error: invalidError(`The request ${problem}`) };
    return this.await(ask);
  }

  /** The set of capabilities has changed. */
  changed() {
    this.emit({ type: 'capabilities', time: Date.now() });
    for (const link of this.#links) link.update();
    for (const listener of this.#listeners) listener();
  }

  /** @type {Set<() => void>} */
  #listeners = new Set();

  /** @param {() => void} listener called when the set of capabilities has changed */
  onChanged(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @param {GatewayLink} link */
  forget(link) {
    this.#links.delete(link);
  }

  #ensureOpen() {
    if (this.#closed) throw invalid('The host is closed');
  }

  #lost() {
    clearTimeout(this.#timer);
    for (const context of this.#contexts.values()) context.stop('The host has failed');
    this.#contexts.clear();
    for (const resolve of this.#waiting.values()) {
      resolve({ success: false, error: internalError('The host has failed') });
    }
    this.#waiting.clear();
    for (const connection of this.connections.values()) connection.answerLost();
  }
}

/**
 * A reason is passed on only if it is a string, or an Error's message.
 *
 * @param {unknown} reason
 * @returns {string | undefined}
 */
export function reasonText(reason) {
  if (typeof reason === 'string') return reason;
  // The default reason of an abort says nothing.
  if (reason instanceof DOMException && reason.name === 'AbortError') return undefined;
  return reason instanceof Error ? reason.message : undefined;
}

/**
 * A handler that stops by itself throws one of these: from fetch, or `signal.throwIfAborted()` of
 * a signal of its own.
 *
 * @param {unknown} error
 */
function isAbortError(error) {
  try {
    return error instanceof Error && error.name === 'AbortError';
  } catch {
    // A getter or a proxy of its own.
    return false;
  }
}

/** @param {any} value */
const isThenable = (value) => typeof value?.then === 'function';

/** Of what the app itself asks. */
const DEPTH = 128;
const SIZE = 1 << 24;

/** @param {string} message */
const invalidError = (message) => ({ code: 'INVALID_PARAMS', message, retryable: false });

/** @param {string} message */
const invalid = (message) => Object.assign(new Error(message), invalidError(message));

/** @param {any} signal */
export const isSignal = (signal) => typeof signal?.addEventListener === 'function';
export const BAD_SIGNAL = invalidError('Bad options.signal: it is an AbortSignal');
