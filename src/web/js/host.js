/**
 * A page's host, as JavaScript sees it. The rules are in Rust.
 */
import { acceptMessages } from './accept-messages.js';
import { acceptPort } from './accept-port.js';
import { Connection } from './connection.js';
import { describe, problemWithCapability } from './descriptor.js';
import { cancelResponse } from './envelope.js';
import { BAD_CALL_ID, Refusal, failure, invalid, problem, text, thrown } from './errors.js';
import { readCall } from './from-agent.js';
import { exposeAbp } from './in-page.js';
import { fromText, toText } from './json.js';
import { inspect } from './inspect.js';
import { newId } from './platform.js';
import { get, isObject } from './read.js';
import { Requests } from './requests.js';
import { Shell } from './shell.js';
import { underSignal } from './signal.js';
import { copied } from './snapshot.js';

/** @import { Context } from './context.js' */
/** @import { GatewayLink } from './gateway/link.js' */

export class Host extends Shell {
  /** @type {Set<() => void>} */
  #closers = new Set();
  /** @type {Set<GatewayLink>} */
  #links = new Set();
  /** @type {Set<() => void>} */
  #listeners = new Set();
  #closed = false;
  /** Whether a JSON-RPC agent that has not declared that it takes cancels is sent them all the same. */
  cancelUndeclared = false;
  /** Milliseconds that a handler is given to end once it was told to stop. */
  settleGrace = 50;

  // The public interface.

  /**
   * @param {string} name
   * @param {any} description
   * @param {(params: any, context: Context) => unknown} handler
   */
  register(name, description, handler) {
    this.#ensureOpen();
    const options = description ?? {};
    refuseIf(problemWithCapability(name, options));
    refuseIf(typeof handler !== 'function' && `${name}: the handler is a function`);
    const { concurrency = 0, available, inputSchema, settleGrace = this.settleGrace } = options;
    /** @type {any} */
    let document;
    try {
      document = describe(name, options);
    } catch (error) {
      refuseIf(`${name}: the description is no JSON: ${text(error)}`);
    }
    refuseIf(this.validators.problemWith(document));
    const added = this.rust.register(this.number, name, concurrency, settleGrace, available !== false, inputSchema !== undefined, document, handler);
    refuseIf(!added && (added === undefined ? 'The host has failed' : `"${name}" is registered already`));
    this.registered(document);
  }

  /** @param {any} document the Capability object of one registered from here or from Rust */
  registered({ name, inputSchema }) {
    this.validators.set(name, inputSchema);
    this.changed();
  }

  /** @param {string} name */
  unregister(name) {
    const removed = Boolean(this.rust.unregister(this.number, String(name)));
    if (removed) {
      this.validators.delete(name);
      this.changed();
    }
    return removed;
  }

  /**
   * Puts `abp` on the window, or on another object.
   *
   * @param {any} target
   * @param {{ webmcp?: boolean }} [options] `webmcp`: the capabilities are tools of the browser, too
   */
  expose(target = globalThis, { webmcp } = {}) {
    this.#ensureOpen();
    this.#closers.add(exposeAbp(this, target));
    if (webmcp) this.#exposeTools(target.document?.modelContext ?? target.navigator?.modelContext);
  }

  /** @param {any} browser its `modelContext`, if it has one */
  #exposeTools(browser) {
    if (!browser) return;
    // Whoever does not want it does not load it.
    const exposed = import('./webmcp/expose-tools.js').then(({ exposeTools }) => {
      if (this.#closed) return undefined;
      return exposeTools(this, browser, { requests: new Requests(this, () => {}), underSignal, newId, toText });
    });
    this.#closers.add(() => void exposed.then((close) => close?.()));
  }

  /** @param {{ allowedOrigins?: string[] }} [options] */
  acceptMessages(options = {}) {
    this.#ensureOpen();
    this.#closers.add(acceptMessages(this, options));
  }

  /**
   * @param {any} port a MessagePort, a Worker, the inside of a worker, or an extension's port
   * @returns {() => void} lets go of it
   */
  acceptPort(port) {
    this.#ensureOpen();
    return acceptPort(this, port, (close, held) => void this.#closers[held ? 'add' : 'delete'](close));
  }

  /**
   * @param {string} url
   * @param {{ token?: string, WebSocket?: any }} [options]
   */
  connectGateway(url, options = {}) {
    this.#ensureOpen();
    const to = String(url);
    let socket;
    try {
      socket = new (options.WebSocket ?? WebSocket)(to);
    } catch (error) {
      throw thrown(invalid(`Cannot connect to ${to}: ${text(error)}`));
    }
    this.emit({ type: 'gateway', state: 'connecting', url: to });
    let close = () => socket.close(1000);
    this.#closers.add(() => close());
    // Whoever has no gateway does not load it. The socket connects meanwhile.
    import('./gateway/link.js').then(
      ({ GatewayLink }) => {
        if (this.#closed) return;
        const link = new GatewayLink(this, to, options, socket, { Connection, fromText, toText });
        this.#links.add(link);
        close = link.close;
      },
      (error) => {
        socket.close(1000);
        this.emit({ type: 'gateway', state: 'refused', url: to, error: problem('TRANSPORT_ERROR', `It could not be loaded: ${text(error)}`) });
      },
    );
  }

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
    return this.rust.documents(this.number) ?? [];
  }

  /**
   * Sends every agent that takes notifications one of the app's.
   *
   * @param {string} event
   * @param {unknown} [data]
   */
  notify(event, data) {
    this.rust.notify(this.number, String(event), data);
  }

  /**
   * The app cancels a call of one of its agents.
   *
   * @param {string} sessionId
   * @param {string} callId
   * @param {string} [reason]
   */
  async cancelCall(sessionId, callId, reason) {
    const why = typeof reason === 'string' ? reason : undefined;
    return new Promise((resolve) => {
      const key = this.rust.cancelCall(this.number, String(sessionId), callId, why);
      if (!key) return resolve(cancelResponse(callId, undefined, this.#noSuchSession()));
      this.waiting.set(key, (response) => resolve({ ...response, callId }));
      return this.rust.drive(this.number);
    });
  }

  #noSuchSession() {
    if (this.guard.trap) return problem('INTERNAL_ERROR', 'The host has failed');
    return this.#closed ? problem('NOT_INITIALIZED', 'The host is closed') : problem('SESSION_INVALID', 'There is no such session');
  }

  /**
   * @param {(event: any) => void} listener called with every step of every call
   * @returns {() => void} stops it
   */
  observe(listener) {
    this.observers.add(listener);
    this.rust.watch(this.number, true);
    return () => {
      this.observers.delete(listener);
      if (this.observers.size === 0) this.rust.watch(this.number, false);
    };
  }

  /** What is held and what was counted. */
  stats() {
    return { ...this.rust.stats(this.number), contexts: this.contexts.size };
  }

  /** Ends every session: what is in flight is cancelled and answered. */
  close() {
    if (this.#closed) return;
    this.#closed = true;
    for (const connection of this.connections.values()) connection.giveUp('The host was closed');
    this.rust.giveUp(this.number, 0);
    for (const close of [...this.#closers]) close();
    this.#closers.clear();
    this.stopTimer();
    this.rust.release(this.number);
  }

  // What the transports and contexts call.

  /**
   * Waits for the answer that comes under the key a method gives: 0 when the callId cannot be one,
   * or the host is closed.
   *
   * @param {((key: number) => void) | undefined} asked told the key
   * @param {() => number | undefined} ask
   * @returns {Promise<any>}
   */
  await(asked, ask) {
    return new Promise((resolve) => {
      const key = ask();
      if (!key) {
        const lost = problem('INTERNAL_ERROR', 'The host has failed or is closed');
        return resolve({ success: false, error: key === 0 && !this.#closed ? BAD_CALL_ID : lost });
      }
      this.waiting.set(key, resolve);
      asked?.(key);
      return this.rust.drive(this.number);
    });
  }

  /**
   * @param {number} parent
   * @param {{ capability: string, params: object, options: { callId?: string } }} payload
   * @param {AbortSignal} [signal]
   */
  callFrom(parent, payload, signal) {
    let child = 0;
    return underSignal(
      this,
      signal,
      (reason) => this.rust.cancelKey(this.number, child, reason),
      async () => {
        /** @type {import('./from-agent.js').Call} */
        let call;
        try {
          call = readCall(payload);
          // What passes the schema is what the handler gets.
          call.params = copied(call.params);
        } catch (error) {
          if (error instanceof Refusal) return { success: false, error: error.error };
          return failure('INVALID_PARAMS', `The call cannot be made: ${text(error)}`);
        }
        const { callId, capability, timeout, token } = call;
        return this.await(
          (key) => (child = key),
          () => this.rust.callFrom(this.number, parent, callId, capability, call, timeout, token),
        );
      },
    );
  }

  /**
   * Asks an agent.
   *
   * @param {any} request
   * @param {(host: number, of: number, request: any, timeout: number) => number | undefined} method
   * @param {number} of whom: the call or the connection
   */
  async ask(request, method, of) {
    const timeout = get(request, 'timeout') ?? Infinity;
    const unfit = !isObject(request)
      ? 'is no object'
      : !(typeof timeout === 'number' && timeout >= 0)
        ? 'has a bad timeout: it is a number of milliseconds, not negative'
        : inspect(request, DEPTH, SIZE);
    if (unfit) return failure('INVALID_PARAMS', `The request ${unfit}`);
    return this.await(undefined, () => method(this.number, of, request, timeout));
  }

  /** The set of capabilities has changed. */
  changed() {
    this.emit({ type: 'capabilities' });
    for (const link of this.#links) link.update();
    for (const listener of this.#listeners) listener();
  }

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
    refuseIf(this.#closed && 'The host is closed');
  }
}

/** @param {string | false | undefined} unfit what is wrong, if anything */
function refuseIf(unfit) {
  if (unfit) throw thrown(invalid(unfit));
}

/** Of what the app itself asks. */
const DEPTH = 128;
const SIZE = 1 << 24;
