/**
 * A page's host: the public interface. The rules are in Rust.
 */
import { acceptMessages } from './accept-messages.js';
import { acceptPort, idles } from './accept-port.js';
import { accept, messengerOfApp } from './accept.js';
import { OF_CAPABILITIES, describe, problemWithCapability, problemWithWorker } from './descriptor.js';
import { abpError, invalid, log, problem, text, thrown } from './errors.js';
import { exposeAbp } from './in-page.js';
import { fromText, toText } from './json.js';
import { asyncDispose } from './platform.js';
import { problemWithMessenger } from './messenger.js';
import { onWindow } from './on-window.js';
import { loadPart } from './part.js';
import { bare, get, isObject, warnOfUnknown } from './read.js';
import { Requests } from './requests.js';
import { underSignal } from './signal.js';
import { defaultSocket } from './socket.js';
import { answering, withJsonSchemas } from './standard-schema.js';
import { notify } from './taken.js';
import { carry } from './transfer.js';

/** @import { Context } from './running.js' */
/** @import { Shell } from './shell.js' */

/** The options of workers. */
const OF_WORKERS = ['settleGrace', 'pool', 'warm', 'type', 'script', 'finish'];

export class Host {
  /** @type {Set<() => void>} */
  #closers = new Set();
  /** @type {import('./workers/workers.js').Workers | undefined} */
  #workers;
  /** @type {Parameters<typeof accept>[2]} */
  #hold = (close, held) => void this.#closers[held ? 'add' : 'delete'](close);
  /** The statistics of a closed host. @type {object | undefined} */
  #lastStats;

  /** @param {Shell} shell */
  constructor(shell) {
    this.shell = shell;
  }

  /**
   * @param {string} name
   * @param {any} description
   * @param {(params: any, context: Context) => unknown} handler
   * @returns {() => boolean} removes the capability; false if it is already gone
   */
  register(name, description, handler) {
    refuseIf(typeof handler !== 'function' && `${text(name)}: handler must be a function`);
    return this.#register(name, description ?? {}, handler);
  }

  /**
   * @param {string} name
   * @param {any} description
   * @param {string | URL} module has the handler
   * @param {any} [options]
   * @returns {() => boolean} removes the capability; false if it is already gone
   */
  registerWorker(name, description, module, options) {
    const worker = options ?? {};
    refuseIf(!isObject(worker) && `${text(name)}: the options of its workers must be an object`);
    warnOfUnknown('registerWorker', worker, OF_WORKERS);
    const { settleGrace, pool = 2, warm = true, type = 'module', script, finish } = bare(worker, OF_WORKERS);
    refuseIf(problemWithWorker(text(name), { pool, warm, type, finish }));
    // The object may be one that the page trusts. Its text alone is not trusted.
    if (script) urlOf(script);
    /** @type {import('./workers/workers.js').Spec} */
    const spec = { name, url: urlOf(module), type, pool, warm, finish, script };
    // An app without workers does not load the code for them.
    const loading = () => loadPart(() => import('./workers/workers.js')).then(({ Workers }) => (this.#workers ??= new Workers(this.shell, { ...KIT, ids: this.shell.ids })));
    const run = (/** @type {any} */ params, /** @type {Context} */ context) => {
      if (this.#workers) return this.#workers.run(spec, params, context);
      const { rust, number } = this.shell;
      // Until the code is loaded, no code of the handler runs.
      context.ender = { stop: () => void rust.stopped(number, context.key, 0), terminate: () => {} };
      return loading().then((it) => it.run(spec, params, context));
    };
    const given = description ?? {};
    const unregister = this.#register(name, isObject(given) ? { ...given, concurrency: given.concurrency ?? pool, settleGrace: given.settleGrace ?? settleGrace } : given, run, spec);
    if (warm) void loading().then((it) => it.warm(spec), () => {});
    return unregister;
  }

  /**
   * @param {string} name
   * @param {any} description
   * @param {(params: any, context: Context) => unknown} handler
   * @param {import('./workers/workers.js').Spec} [spec] the workers of the handler, if it runs in workers
   */
  #register(name, description, handler, spec) {
    this.#ensureOpen();
    const { shell } = this;
    const { options, standard, output } = withJsonSchemas(name, bare(description, OF_CAPABILITIES));
    refuseIf(problemWithCapability(name, options));
    /** @type {any} */
    let document;
    try {
      document = describe(name, options);
    } catch (error) {
      refuseIf(`${name}: the description is not valid JSON: ${text(error)}`);
    }
    if (options.replace) this.unregister(name);
    const added = shell.rust.register(shell.number, name, options, shell.settleGrace, spec ? PROOF : NaN, document, output ? answering(name, output, handler) : handler);
    refuseIf(!added && (added === undefined ? 'The host has failed' : `"${name}" is registered already`));
    if (spec) spec.document = document;
    shell.capabilities.added(document, standard);
    // Another capability of that name is not this one.
    return () => shell.capabilities.find(name) === document && this.unregister(name);
  }

  /** @param {string} name */
  unregister(name) {
    const { shell } = this;
    const removed = Boolean(shell.rust.unregister(shell.number, String(name)));
    if (removed) shell.capabilities.removed(String(name));
    return removed;
  }

  /**
   * Puts `abp` on the window, or on another object.
   *
   * @param {any} target
   * @param {{ webmcp?: boolean, replace?: boolean }} [options] `webmcp`: the capabilities are tools of the
   *   browser, too; `replace`: instead of another host
   */
  expose(target = globalThis, options = {}) {
    const { webmcp, replace } = bare(options, ['webmcp', 'replace']);
    this.#ensureOpen();
    this.#closers.add(exposeAbp(this.shell, target, replace));
    if (webmcp) this.#exposeTools(target.document?.modelContext ?? target.navigator?.modelContext);
  }

  /** @param {any} browser its `modelContext`, if it has one */
  #exposeTools(browser) {
    if (!browser) return;
    // An app without this option does not load the code for it.
    const exposed = loadPart(() => import('./webmcp/expose-tools.js'), () => !this.shell.closed).then(({ exposeTools }) => {
      if (this.shell.closed) return undefined;
      return exposeTools(this.shell, browser, { requests: new Requests(this.shell, () => {}), underSignal, ids: this.shell.ids, toText, log });
    }, () => undefined);
    this.#closers.add(() => void exposed.then((close) => close?.()));
  }

  /**
   * @param {{ allowedOrigins?: string[], replace?: boolean }} [options]
   * @returns {() => void} stops serving
   */
  acceptMessages(options = {}) {
    this.#ensureOpen();
    if (!globalThis.location) throw abpError('NOT_SUPPORTED', 'acceptMessages works in a page. Elsewhere use acceptPort, accept or connectGateway');
    warnOfUnknown('acceptMessages', options, ['allowedOrigins', 'replace']);
    const stop = acceptMessages(this.shell, bare(options, ['allowedOrigins', 'replace']), () => void this.#closers.delete(stop));
    this.#closers.add(stop);
    return stop;
  }

  /**
   * @param {any} port a MessagePort, a Worker, the inside of a worker, or an extension's port
   * @param {{ replace?: boolean }} [options]
   * @returns {() => void} releases it
   */
  acceptPort(port, options = {}) {
    this.#ensureOpen();
    const release = acceptPort(this.shell, port, this.#hold, { replace: get(options, 'replace') });
    // No function made here may lead to `release`: it leads to the port, which may become garbage.
    this.#closers.add(idles(port, release));
    return release;
  }

  /**
   * @param {any} messenger a transport of the app's own
   * @returns {() => void} ends its session, and closes it
   */
  accept(messenger) {
    this.#ensureOpen();
    refuseIf(problemWithMessenger(messenger));
    return accept(this.shell, messengerOfApp(messenger), this.#hold).close;
  }

  /**
   * @param {string} url
   * @param {{ token?: string, WebSocket?: any }} [given]
   */
  connectGateway(url, given = {}) {
    const options = bare(given, ['token', 'WebSocket']);
    this.#ensureOpen();
    const to = String(url);
    const Socket = options.WebSocket ?? defaultSocket();
    let socket;
    try {
      socket = new Socket(to);
    } catch (error) {
      throw thrown(invalid(`Cannot connect to ${to}: ${text(error)}`));
    }
    this.shell.timeline.emit({ type: 'gateway', state: 'connecting', url: to });
    let close = () => socket.close(1000);
    this.#closers.add(() => close());
    // An app without a gateway does not load the code for it. The socket connects meanwhile.
    const goesOn = (/** @type {unknown} */ error) => {
      if (this.shell.closed) return false;
      this.shell.timeline.emit({ type: 'gateway', state: 'disconnected', url: to, error: problem('TRANSPORT_ERROR', `It could not be loaded: ${text(error)}`) });
      return true;
    };
    loadPart(() => import('./gateway/link.js'), goesOn).then(({ GatewayLink }) => {
      if (this.shell.closed) return;
      ({ close } = new GatewayLink(this.shell, to, { ...options, WebSocket: Socket }, socket, { accept, fromText, log, onWindow, toText }));
    }, () => {});
  }

  /** The manifest of the registered capabilities. */
  manifest() {
    return this.shell.capabilities.manifest();
  }

  /** @returns {any[]} the Capability objects of the registered capabilities */
  documents() {
    return this.shell.capabilities.documents();
  }

  /**
   * Sends a notification of the app to every agent that accepts notifications.
   *
   * @param {string} event
   * @param {unknown} [data]
   */
  notify(event, data) {
    notify(this.shell, event, data);
  }

  /**
   * The app cancels a call of one of its agents.
   *
   * @param {string} sessionId
   * @param {string} callId
   * @param {string} [reason]
   */
  async cancelCall(sessionId, callId, reason) {
    return this.#cancel(String(sessionId), callId, reason);
  }

  /**
   * Does the same without the session, or on behalf of a named party.
   *
   * @param {string} callId
   * @param {{ by?: string, reason?: string, sessionId?: string }} [options]
   */
  async cancel(callId, options = {}) {
    const { by = 'app', reason = `Stopped by the ${by}`, sessionId } = bare(options, ['by', 'reason', 'sessionId']);
    return this.#cancel(sessionId ? String(sessionId) : undefined, callId, reason);
  }

  /**
   * @param {string | undefined} sessionId
   * @param {string} callId
   * @param {unknown} reason
   */
  #cancel(sessionId, callId, reason) {
    return this.shell.asks.cancel(sessionId, callId, typeof reason === 'string' ? reason : undefined);
  }

  /**
   * The app shows people the calls that wait for consent, so that no agent is asked.
   *
   * @returns {() => void} ends this
   */
  confirmHere() {
    const { rust, number } = this.shell;
    let on = true;
    rust.showConsents(number, on);
    return () => {
      if (on) rust.showConsents(number, (on = false));
    };
  }

  /**
   * A person has allowed or denied a call.
   *
   * @param {number} question of the event `confirm`
   * @param {boolean} allow
   * @returns {boolean} whether the call has waited for that
   */
  answer(question, allow) {
    return this.shell.rust.consent(this.shell.number, question, allow === true ? 1 : 2) ?? false;
  }

  /**
   * @param {(event: any) => void} listener called with every step of every call
   * @returns {() => void} removes the listener
   */
  observe(listener) {
    refuseIf(typeof listener !== 'function' && 'observe: listener must be a function');
    const { rust, number, timeline } = this.shell;
    timeline.add(listener);
    rust.watch(number, true);
    return () => {
      timeline.delete(listener);
      if (!timeline.watched) rust.watch(number, false);
    };
  }

  /** The numbers of held objects and the counters. */
  stats() {
    const { rust, number, running } = this.shell;
    return { ...(this.#lastStats ?? rust.stats(number)), contexts: running.size };
  }

  /** Ends every session: the calls in flight are cancelled and answered. */
  close() {
    const { shell } = this;
    if (shell.closed) return;
    shell.closed = true;
    for (const connection of shell.connections.values()) connection.giveUp('The host was closed');
    shell.rust.giveUp(shell.number, 0);
    for (const close of [...this.#closers]) close();
    this.#closers.clear();
    this.#workers?.close();
    shell.disarm();
    this.#lastStats = shell.rust.stats(shell.number);
    shell.rust.release(shell.number);
  }

  async [asyncDispose]() {
    this.close();
  }

  #ensureOpen() {
    refuseIf(this.shell.closed && 'The host is closed');
  }
}

/** The functions that modules loaded on demand are given. */
const KIT = { abpError, text, carry };

/** Milliseconds for the proof that a worker is gone: Chromium takes two seconds to end a worker that computes. */
const PROOF = 2500;

/** @param {string | URL} url @returns {string} the absolute URL, relative to the page */
function urlOf(url) {
  // Any other value would be taken as the name of a file.
  try {
    if (typeof url === 'string' || isObject(url)) return new URL(url, globalThis.document?.baseURI ?? globalThis.location?.href ?? import.meta.url).href;
  } catch {
    // The error below covers this.
  }
  throw thrown(invalid(`${text(url)} is not a valid URL`));
}

/** @param {string | false | undefined} unfit the problem, if there is a problem */
function refuseIf(unfit) {
  if (unfit) throw thrown(invalid(unfit));
}
