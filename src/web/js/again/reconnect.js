/**
 * Connects an agent again whenever its connection is lost, until nobody wants it any more. A page loads this
 * part only for agents with `reconnect`.
 */

/** @import { Make, Messenger } from '../connect.js' */
/** @import { OpenOptions } from '../open.js' */

/** The refusals that another attempt would not change. */
const FINAL = ['PERMISSION_DENIED', 'NOT_SUPPORTED'];

/** @typedef {(messenger?: Messenger, session?: any) => void} Use continues the agent with another session, or without one ends it */

/**
 * @typedef {object} Tools shared with the code that every page loads
 * @property {typeof import('../errors.js').abpError} abpError
 * @property {typeof import('../errors.js').log} log
 * @property {typeof import('../connect.js').madeBy} madeBy
 * @property {typeof import('../open.js').open} open
 * @property {typeof import('../errors.js').report} report
 * @property {any} rust the functions of the wasm half
 */

export class Again {
  /** Whether the agent is connected, once it is or will not be any more. @type {Promise<boolean>} */
  ready = Promise.resolve(true);
  /** @type {(connected: boolean) => void} */
  #settle = () => {};
  /** Fires when the agent is over. */
  #over = new AbortController();
  /** @type {Use} */
  #use = () => {};
  /** The id of the app: no other app takes its place. @type {unknown} */
  #app;
  #handle;
  #make;
  #options;
  #tools;

  /**
   * @param {any} handle the functions of the wasm half
   * @param {Messenger | Make} make
   * @param {OpenOptions} options
   * @param {Tools} tools
   */
  constructor(handle, make, options, tools) {
    if (options.reconnect !== true) throw tools.abpError('INVALID_PARAMS', 'reconnect must be true or false');
    if (typeof make !== 'function' || make.once) {
      throw tools.abpError('INVALID_PARAMS', 'reconnect needs a function that makes the port or the messenger for each connection: one that is closed does not come back');
    }
    this.#handle = handle;
    this.#make = make;
    this.#options = options;
    this.#tools = tools;
  }

  /** The agent is connected for the first time. @param {any} app @param {Use} use */
  begin(app, use) {
    this.#app = app?.id;
    this.#use = use;
    this.#options.signal?.addEventListener('abort', () => use(), /** @type {any} */ ({ __proto__: null, signal: this.#over.signal }));
  }

  /** The connection is lost. */
  lost() {
    this.ready = new Promise((resolve) => (this.#settle = resolve));
    void this.#connect();
    this.#tell('connecting');
  }

  /** The agent is over. */
  end() {
    this.#over.abort();
    this.#settle(false);
  }

  /** @param {'connecting' | 'connected'} state */
  #tell(state) {
    this.#tools.report(this.#options.onConnection, state);
  }

  async #connect() {
    const { log, madeBy, open, rust } = this.#tools;
    const { signal } = this.#over;
    let took = 0;
    for (let failed = 0; ; failed += 1) {
      // The pause is between the beginnings of attempts: some have waited for the app all the time.
      await elapsed(Math.max(0, rust.pauseOf(failed, Math.random()) - took), signal);
      if (signal.aborted) return;
      if (this.#make.isOver?.()) return this.#use();
      const began = performance.now();
      try {
        const messenger = await madeBy(this.#make);
        if (await open(this.#handle, messenger, { ...this.#options, signal }, (session) => this.#continue(messenger, session))) return;
      } catch (/** @type {any} */ error) {
        if (signal.aborted) return;
        if (FINAL.includes(error?.code)) {
          log('warn', `the agent does not connect again: ${error.message}`);
          return this.#use();
        }
      }
      took = performance.now() - began;
    }
  }

  /** @param {Messenger} messenger @param {any} session @returns {boolean} whether the agent is connected */
  #continue(messenger, session) {
    if (session.app?.id !== this.#app) {
      messenger.post({ type: 'shutdown', timestamp: Date.now(), payload: { reason: 'Another app is expected' } });
      messenger.close();
      return false;
    }
    this.#use(messenger, session);
    this.#settle(true);
    this.#tell('connected');
    return true;
  }
}

/**
 * Waits, but no longer than until the browser is online again.
 *
 * @param {number} milliseconds
 * @param {AbortSignal} signal
 */
const elapsed = (milliseconds, signal) =>
  new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
    const done = () => {
      clearTimeout(timer);
      globalThis.removeEventListener?.('online', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    globalThis.addEventListener?.('online', done);
    signal.addEventListener('abort', done);
  });
