/**
 * The workers of a host: a few for each module, one call at a time in each, and one in reserve, so
 * that no call waits for a worker to start.
 */
import { STOP, Thread } from './thread.js';

/** @import { Context } from '../running.js' */
/** @import { Shell } from '../shell.js' */
/** @import { Job, Kit, Module } from './thread.js' */

/**
 * @typedef {Module & { pool: number, warm: boolean, finish?: (data: any) => unknown }} Spec what is to be
 *   known of a capability's module: `pool` workers of it are kept, and the page makes the data with
 *   `finish` of what comes from them
 */

/** Loaded on demand, it may stand beside the file that asks for it. */
const SCRIPT = new URL('./worker.js', import.meta.url).href;

/** A page that is left or frozen keeps nothing; one that is only hidden works on. */
const LEAVES = ['pagehide', 'freeze'];

export class Workers {
  /** By what they run. @type {Map<string, Pool>} */
  #pools = new Map();
  #shell;
  #kit;

  /** @param {Shell} shell @param {Kit} kit */
  constructor(shell, kit) {
    this.#shell = shell;
    this.#kit = kit;
    for (const type of LEAVES) globalThis.addEventListener?.(type, this.#leave);
    globalThis.document?.addEventListener('visibilitychange', this.#shown);
  }

  /** Has a worker in reserve, if that is wanted. @param {Spec} spec */
  warm(spec) {
    this.#pool(spec).shown();
  }

  /**
   * Runs a call. What becomes of one that is to stop is told to Rust as it is seen.
   *
   * @param {Spec} spec
   * @param {string} name of the capability
   * @param {any} params
   * @param {Context} context
   * @returns {Promise<unknown>}
   */
  run(spec, name, params, context) {
    const { rust, number } = this.#shell;
    const { key } = context;
    const ran = new Promise((resolve, reject) => {
      const stopped = (/** @type {number} */ stop) => void rust.stopped(number, key, stop);
      const reached = (/** @type {number} */ step) => void rust.reached(number, key, step);
      if (context.stopped) stopped(STOP.neverStarted);
      else context.ender = this.#pool(spec).run({ name, params, context, resolve, reject, stopped, reached });
    });
    return spec.finish ? ran.then(spec.finish) : ran;
  }

  /** The host is closed. */
  close() {
    for (const type of LEAVES) globalThis.removeEventListener?.(type, this.#leave);
    globalThis.document?.removeEventListener('visibilitychange', this.#shown);
    this.#release('The host was closed');
  }

  #leave = () => this.#release('The page was left or frozen, and its workers have ended');

  /** @param {string} why */
  #release(why) {
    for (const pool of this.#pools.values()) pool.release(why);
  }

  #shown = () => {
    for (const pool of this.#pools.values()) pool.shown();
  };

  /** @param {Spec} spec */
  #pool(spec) {
    const key = `${spec.type} ${spec.script} ${spec.url}`;
    const pool = this.#pools.get(key) ?? new Pool({ ...spec, script: spec.script || SCRIPT }, this.#kit);
    this.#pools.set(key, pool);
    return pool;
  }
}

class Pool {
  /** @type {Set<Thread>} */
  #busy = new Set();
  /** @type {Thread[]} */
  #idle = [];
  #spec;
  #kit;

  /** @param {Spec} spec @param {Kit} kit */
  constructor(spec, kit) {
    this.#spec = spec;
    this.#kit = kit;
  }

  /** @param {Job} job */
  run(job) {
    try {
      const thread = this.#idle.pop() ?? new Thread(this.#spec, this.#free, this.#kit);
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

  /** A call has ended in a worker, or it has itself. @param {Thread} thread */
  #free = (thread) => {
    const worked = this.#busy.delete(thread);
    if (thread.ended) {
      this.#idle = this.#idle.filter((it) => it !== thread);
      if (worked) this.#reserve();
      return;
    }
    const { pool, warm } = this.#spec;
    if (this.#idle.length + this.#busy.size < pool + Number(warm)) this.#idle.push(thread);
    else thread.release('');
  };

  /** Has one in reserve, which is ready by the time that it is needed. */
  #reserve() {
    if (!this.#spec.warm || this.#idle.length > 0 || globalThis.document?.hidden) return;
    try {
      this.#idle.push(new Thread(this.#spec, this.#free, this.#kit));
    } catch {
      // Whoever needs it is told.
    }
  }

  /** The page is shown, or no more: nobody waits for what a hidden page begins. */
  shown() {
    if (globalThis.document?.hidden) for (const thread of this.#idle) thread.release('');
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
