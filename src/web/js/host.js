/**
 * A page's host: the public interface. The rules are in Rust.
 */
import { acceptMessages } from './accept-messages.js';
import { acceptPort } from './accept-port.js';
import { Connection } from './connection.js';
import { describe, problemWithCapability } from './descriptor.js';
import { invalid, problem, text, thrown } from './errors.js';
import { exposeAbp } from './in-page.js';
import { fromText, toText } from './json.js';
import { newId } from './platform.js';
import { Requests } from './requests.js';
import { underSignal } from './signal.js';

/** @import { Context } from './running.js' */
/** @import { Shell } from './shell.js' */

export class Host {
  /** @type {Set<() => void>} */
  #closers = new Set();

  /** @param {Shell} shell */
  constructor(shell) {
    this.shell = shell;
  }

  /**
   * @param {string} name
   * @param {any} description
   * @param {(params: any, context: Context) => unknown} handler
   */
  register(name, description, handler) {
    this.#ensureOpen();
    const { shell } = this;
    const options = description ?? {};
    refuseIf(problemWithCapability(name, options));
    refuseIf(typeof handler !== 'function' && `${name}: the handler is a function`);
    /** @type {any} */
    let document;
    try {
      document = describe(name, options);
    } catch (error) {
      refuseIf(`${name}: the description is no JSON: ${text(error)}`);
    }
    refuseIf(shell.capabilities.validators.problemWith(document));
    const added = shell.rust.register(shell.number, name, options, shell.settleGrace, document, handler);
    refuseIf(!added && (added === undefined ? 'The host has failed' : `"${name}" is registered already`));
    shell.capabilities.added(document);
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
   * @param {{ webmcp?: boolean }} [options] `webmcp`: the capabilities are tools of the browser, too
   */
  expose(target = globalThis, { webmcp } = {}) {
    this.#ensureOpen();
    this.#closers.add(exposeAbp(this.shell, target));
    if (webmcp) this.#exposeTools(target.document?.modelContext ?? target.navigator?.modelContext);
  }

  /** @param {any} browser its `modelContext`, if it has one */
  #exposeTools(browser) {
    if (!browser) return;
    // Whoever does not want it does not load it.
    const exposed = import('./webmcp/expose-tools.js').then(({ exposeTools }) => {
      if (this.shell.closed) return undefined;
      return exposeTools(this.shell, browser, { requests: new Requests(this.shell, () => {}), underSignal, newId, toText });
    });
    this.#closers.add(() => void exposed.then((close) => close?.()));
  }

  /** @param {{ allowedOrigins?: string[] }} [options] */
  acceptMessages(options = {}) {
    this.#ensureOpen();
    this.#closers.add(acceptMessages(this.shell, options));
  }

  /**
   * @param {any} port a MessagePort, a Worker, the inside of a worker, or an extension's port
   * @returns {() => void} lets go of it
   */
  acceptPort(port) {
    this.#ensureOpen();
    return acceptPort(this.shell, port, (close, held) => void this.#closers[held ? 'add' : 'delete'](close));
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
    this.shell.timeline.emit({ type: 'gateway', state: 'connecting', url: to });
    let close = () => socket.close(1000);
    this.#closers.add(() => close());
    // Whoever has no gateway does not load it. The socket connects meanwhile.
    import('./gateway/link.js').then(
      ({ GatewayLink }) => {
        if (this.shell.closed) return;
        ({ close } = new GatewayLink(this.shell, to, options, socket, { Connection, fromText, toText }));
      },
      (error) => {
        socket.close(1000);
        this.shell.timeline.emit({ type: 'gateway', state: 'refused', url: to, error: problem('TRANSPORT_ERROR', `It could not be loaded: ${text(error)}`) });
      },
    );
  }

  /** The manifest of what is registered. */
  manifest() {
    return this.shell.capabilities.manifest();
  }

  /** @returns {any[]} the Capability objects of what is registered */
  documents() {
    return this.shell.capabilities.documents();
  }

  /**
   * Sends every agent that takes notifications one of the app's.
   *
   * @param {string} event
   * @param {unknown} [data]
   */
  notify(event, data) {
    this.shell.rust.notify(this.shell.number, String(event), data);
  }

  /**
   * The app cancels a call of one of its agents.
   *
   * @param {string} sessionId
   * @param {string} callId
   * @param {string} [reason]
   */
  async cancelCall(sessionId, callId, reason) {
    return this.shell.asks.cancel(String(sessionId), callId, typeof reason === 'string' ? reason : undefined);
  }

  /**
   * @param {(event: any) => void} listener called with every step of every call
   * @returns {() => void} stops it
   */
  observe(listener) {
    const { rust, number, timeline } = this.shell;
    timeline.add(listener);
    rust.watch(number, true);
    return () => {
      timeline.delete(listener);
      if (!timeline.watched) rust.watch(number, false);
    };
  }

  /** What is held and what was counted. */
  stats() {
    const { rust, number, running } = this.shell;
    return { ...rust.stats(number), contexts: running.size };
  }

  /** Ends every session: what is in flight is cancelled and answered. */
  close() {
    const { shell } = this;
    if (shell.closed) return;
    shell.closed = true;
    for (const connection of shell.connections.values()) connection.giveUp('The host was closed');
    shell.rust.giveUp(shell.number, 0);
    for (const close of [...this.#closers]) close();
    this.#closers.clear();
    shell.disarm();
    shell.rust.release(shell.number);
  }

  #ensureOpen() {
    refuseIf(this.shell.closed && 'The host is closed');
  }
}

/** @param {string | false | undefined} unfit what is wrong, if anything */
function refuseIf(unfit) {
  if (unfit) throw thrown(invalid(unfit));
}
