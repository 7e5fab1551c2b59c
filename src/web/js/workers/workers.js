/**
 * The workers of a host: a few for each module. Each runs one call at a time. One more is kept in
 * reserve, so that no call waits for a worker to start.
 */
import { STEP, STOP } from './numbers.js';
import { Thread } from './thread.js';

/** @import { Context } from '../running.js' */
/** @import { Shell } from '../shell.js' */
/** @import { Job, Kit, Module } from './thread.js' */

/**
 * @typedef {Module & { name: string, document?: object, pool: number, warm: boolean, key?: string, finish?: (data: any, context: Context) => unknown }} Spec
 *   a capability: its name, its Capability object and its module. The page keeps `pool` workers of the module, and
 *   makes the data with `finish` from the results of the workers
 */

/** If this file is loaded on demand, the script may be beside the file that loads it. */
const SCRIPT = new URL('./worker.js', import.meta.url).href;

/** The error of a stopped call. Nobody sees it. */
const STOPPED = 'The call was stopped';

const FUNCTIONS = 'The parameters hold a function, and the handler runs in a worker of the app, which gets no functions';
const LEFT = 'The page was left or frozen, and its workers have ended';

export class Workers {
  /** The pools, by the modules that they run. @type {Map<string, Pool>} */
  #pools = new Map();
  /** The user has left the page, or the page is frozen, so nothing starts. */
  #left = false;
  #shell;
  #kit;

  /** @param {Shell} shell @param {Kit} kit */
  constructor(shell, kit) {
    this.#shell = shell;
    this.#kit = kit;
    if (shell.closed) return;
    this.#listen('addEventListener');
    // A replaced capability uses the same workers, if that happens in the same turn.
    shell.capabilities.onChanged(() => void Promise.resolve().then(this.#tidy));
  }

  /** A page that is left or frozen keeps no workers. A page that is only hidden continues to work. @param {'addEventListener' | 'removeEventListener'} how */
  #listen(how) {
    const { document } = globalThis;
    // None of these events of the document bubbles.
    for (const type of ['pagehide', 'freeze']) (type === 'freeze' ? document : globalThis)?.[how]?.(type, this.#leave);
    for (const type of ['pageshow', 'resume', 'visibilitychange']) (type === 'pageshow' ? globalThis : document)?.[how]?.(type, this.#shown);
  }

  /** Keeps a worker in reserve, if the capability wants that. @param {Spec} spec */
  warm(spec) {
    const pool = this.#pool(spec);
    if (!this.#left) pool.shown();
  }

  /**
   * Runs a call. Tells Rust how the call stops, if it must stop.
   *
   * @param {Spec} spec
   * @param {any} params
   * @param {Context} context
   * @returns {Promise<unknown>}
   */
  run(spec, params, context) {
    const { rust, number } = this.#shell;
    const { key } = context;
    let told = false;
    const ran = new Promise((resolve, reject) => {
      const stopped = (/** @type {number} */ stop) => void rust.stopped(number, key, stop);
      const reached = (/** @type {number} */ step) => {
        told = true;
        rust.reached(number, key, step);
      };
      if (context.stopped) stopped(STOP.neverStarted);
      else if (this.#shell.running.given(key)?.borrowed) reject(this.#kit.abpError('NOT_SUPPORTED', FUNCTIONS));
      else if (this.#left) reject(this.#kit.abpError('BROWSER_ERROR', LEFT));
      else context.ender = this.#pool(spec).run({ name: spec.name, params, context, resolve, reject, stopped, reached });
    });
    const { finish } = spec;
    if (!finish) return ran;
    return ran.then((data) => {
      // `finish` would make an object that reaches nobody and that nobody frees. A call that was never
      // told to stop has completed.
      if (told) throw STOPPED;
      // Code in the page cannot be ended, and no step has reached it.
      const terminate = () => {
        void rust.reached(number, key, STEP.none);
        void rust.stopped(number, key, STOP.abandoned);
      };
      context.ender = { stop: () => {}, terminate };
      return finish(data, context);
    });
  }

  /** The host is closed. */
  close() {
    this.#listen('removeEventListener');
    this.#release('The host was closed');
  }

  #leave = () => {
    this.#left = true;
    this.#release(LEFT);
  };

  /** @param {string} why */
  #release(why) {
    for (const pool of this.#pools.values()) pool.release(why);
  }

  #shown = (/** @type {Event} */ { type }) => {
    // A page that was left is hidden before it is gone.
    if (type !== 'visibilitychange' || !isHidden()) this.#left = false;
    if (!this.#left) for (const pool of this.#pools.values()) pool.shown();
  };

  /** Capabilities have been added or removed: ends the workers that no capability uses. */
  #tidy = () => {
    const documents = new Set(this.#shell.capabilities.documents());
    for (const [key, pool] of this.#pools) if (!pool.keep(documents)) this.#pools.delete(key);
  };

  /** @param {Spec} spec */
  #pool(spec) {
    const key = (spec.key ??= `${spec.type} ${spec.script} ${spec.url}`);
    let pool = this.#pools.get(key);
    if (!pool) this.#pools.set(key, (pool = new Pool({ ...spec, script: spec.script || SCRIPT }, this.#kit)));
    // A call may have waited since before its capability was removed.
    if (!pool.specs.has(spec) && this.#shell.capabilities.find(spec.name) === spec.document) pool.add(spec);
    return pool;
  }
}

/** Nobody waits for the calls of a hidden page, so a hidden page keeps no idle worker. */
const isHidden = () => globalThis.document?.hidden;

class Pool {
  /** @type {Set<Thread>} */
  #busy = new Set();
  /** @type {Thread[]} */
  #idle = [];
  /** The capabilities that use the pool. @type {Set<Spec>} */
  specs = new Set();
  /** Whether any of them wants a worker in reserve. */
  #warm = false;
  /** The number of workers to keep: the highest number that any of them wants. */
  #most = 0;
  #module;
  #kit;

  /** @param {Module} module @param {Kit} kit */
  constructor(module, kit) {
    this.#module = module;
    this.#kit = kit;
  }

  /** @param {Job} job */
  run(job) {
    try {
      const thread = this.#idle.pop() ?? new Thread(this.#module, this.#free, this.#kit);
      this.#busy.add(thread);
      const ender = thread.run(job);
      this.#reserve();
      return ender;
    } catch (error) {
      const { abpError, text } = this.#kit;
      job.reject(abpError(globalThis.Worker ? 'BROWSER_ERROR' : 'NOT_SUPPORTED', `No worker can be started here: ${text(error)}`));
      return undefined;
    }
  }

  get #size() {
    return this.#idle.length + this.#busy.size;
  }

  /** @param {Spec} spec */
  add(spec) {
    this.specs.add(spec);
    this.#count();
  }

  #count() {
    const specs = [...this.specs];
    this.#warm = specs.some((it) => it.warm);
    this.#most = Math.max(0, ...specs.map(({ pool }) => pool)) + Number(this.#warm);
  }

  /** @param {Set<any>} documents of the capabilities there are @returns {boolean} whether any of them uses it, or a call runs in it */
  keep(documents) {
    for (const spec of this.specs) if (!documents.has(spec.document)) this.specs.delete(spec);
    this.#count();
    while (this.#size > this.#most && this.#idle.length > 0) this.#idle.pop()?.release('');
    return this.specs.size + this.#busy.size > 0;
  }

  /** A call in a worker has ended, or the worker itself has ended. @param {Thread} thread */
  #free = (thread) => {
    const worked = this.#busy.delete(thread);
    if (thread.ended) {
      this.#idle = this.#idle.filter((it) => it !== thread);
      if (worked) this.#reserve();
      return;
    }
    if (this.#size < this.#most && !isHidden()) this.#idle.push(thread);
    else thread.release('');
  };

  /** Keeps a worker in reserve, which is ready by the time a call needs it. */
  #reserve() {
    if (this.#idle.length > 0 || !this.#warm || isHidden()) return;
    try {
      this.#idle.push(new Thread(this.#module, this.#free, this.#kit));
    } catch {
      // The call that needs the worker gets the error.
    }
  }

  /** The page has become visible or hidden. */
  shown() {
    if (isHidden()) for (const thread of this.#idle) thread.release('');
    else this.#reserve();
  }

  /** @param {string} why */
  release(why) {
    const all = [...this.#busy, ...this.#idle];
    this.#busy.clear();
    this.#idle = [];
    for (const thread of all) thread.release(why);
  }
}
