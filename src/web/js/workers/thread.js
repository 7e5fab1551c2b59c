/**
 * One dedicated worker, from the page's side: the call that runs in it, the steps of its stop, and
 * the proof of its end.
 *
 * The worker takes a Web Lock before its module is loaded. The page requests the same lock at that
 * time, and gets the lock only when the worker is gone, whether it ended by `terminate`, by a crash, or
 * by itself. `terminate` alone proves nothing: in Chromium, a worker that computes runs on for two
 * seconds, and its writes in that time take effect.
 */
import { STOP } from './numbers.js';

/** @import { Context, Ender } from '../running.js' */

/**
 * @typedef {object} Job a call, for whatever runs it
 * @property {string} name of its capability
 * @property {any} params
 * @property {Context} context
 * @property {(data: any) => void} resolve
 * @property {(error: unknown) => void} reject
 * @property {(stop: number) => void} stopped its handler has stopped, and so far was that seen
 * @property {(step: number) => void} reached its handler knows that it is to stop
 *
 * @typedef {object} Kit functions that the page has already loaded
 * @property {typeof import('../errors.js').abpError} abpError
 * @property {import('../shell.js').Shell['ids']} ids
 * @property {typeof import('../errors.js').text} text
 * @property {typeof import('../transfer.js').carry} carry
 *
 * @typedef {object} Module
 * @property {string} url the URL of the handler's module
 * @property {'module' | 'classic' | 'wasm'} type
 * @property {string | URL} script the URL of the worker's own script; a TrustedScriptURL where the page requires one
 */

const LOST = 'The worker has crashed, has run out of memory, or has closed itself';

export class Thread {
  /** @type {Job | undefined} */
  #job;
  /** The number of the current call, so that messages about an earlier call are ignored. */
  #serial = 0;
  /** Whether its end proves nothing: it has started workers of its own, or released its lock. */
  #unproven = false;
  /** Whether it has loaded its module. */
  #ready = false;
  /** Whether it runs no more calls. */
  ended = false;
  /** The shared memory in which a computing worker sees that its call must stop. @type {Int32Array | undefined} */
  #flag;
  #worker;
  #module;
  #lock;
  #unlock = new AbortController();
  /**
   * Settles when no code of the app runs in the worker. Already settled before the worker has its lock.
   * Undefined if that cannot be proven.
   *
   * @type {Promise<void> | undefined}
   */
  #gone = Promise.resolve();
  #free;
  #kit;
  /** The numbers of the handler's unanswered requests. @type {Set<number>} */
  #asked = new Set();
  /** Stops the calls that the current call has made. @type {AbortController[]} */
  #asks = [];

  /**
   * @param {Module} module
   * @param {(thread: Thread) => void} free called when a call has ended in it, or it has itself
   * @param {Kit} kit
   */
  constructor(module, free, kit) {
    const { url, type, script } = module;
    this.#module = [url, type];
    this.#free = free;
    this.#kit = kit;
    this.#lock = `caphost.worker.${kit.ids.next()}`;
    // WebKit may lack SharedArrayBuffer even on an isolated page.
    if (globalThis.crossOriginIsolated && globalThis.SharedArrayBuffer) this.#flag = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(script, { type: type === 'classic' ? type : 'module', name: `caphost ${url}` });
    // The messages of the worker's own script begin with this token. Messages of the handler are
    // ignored.
    const token = Math.random();
    worker.onmessage = ({ data }) => Array.isArray(data) && data[0] === token && this.#receive(data);
    worker.onmessageerror = () => this.#refuse('OPERATION_FAILED', 'What the worker said cannot be read');
    worker.onerror = () => this.#refuse('BROWSER_ERROR', `No worker: ${script} cannot be loaded, or the policy of the page forbids it (worker-src)`);
    worker.postMessage([this.#lock, this.#flag, token]);
    this.#worker = worker;
  }

  /**
   * @param {Job} job
   * @returns {Ender}
   */
  run(job) {
    this.#job = job;
    this.#serial += 1;
    this.#asks = [];
    if (this.#ready) this.#start(job);
    const mine = (/** @type {() => void} */ work) => this.#job === job && work();
    return {
      stop: (reason) => mine(() => this.#stop(job, reason)),
      terminate: () => mine(() => this.#terminate(job)),
    };
  }

  #post = (/** @type {any} */ message, /** @type {Transferable[]} */ moved) => this.#worker.postMessage(message, moved);

  /** @param {Job} job */
  #start({ name, params, context, reject }) {
    const { abpError, text, carry } = this.#kit;
    try {
      // The page's copy of the parameters exists only for this call.
      carry(['run', this.#serial, name, context.callId, params], this.#post, params, true);
    } catch (error) {
      this.#job = undefined;
      reject(abpError('INVALID_PARAMS', `The parameters cannot be sent to the worker: ${text(error)}`));
      this.#free(this);
    }
  }

  /** @param {Job} job @param {string} [reason] */
  #stop(job, reason) {
    // A loading module may never finish, or may compute: no other call should wait for it.
    if (!this.#ready) return this.#terminate(job, STOP.neverStarted);
    if (this.#flag) Atomics.store(this.#flag, 0, this.#serial);
    return this.#worker.postMessage(['stop', this.#serial, reason]);
  }

  /** @param {Job} job @param {number} stop how far the call counts as stopped once the worker is gone */
  #terminate(job, stop = STOP.terminated) {
    this.#end();
    // A page that the user has left no longer waits.
    if (this.#gone) void this.#gone.then(() => job.stopped(this.#unproven ? STOP.abandoned : stop), () => {});
    else job.stopped(STOP.abandoned);
  }

  /** Ends the worker without waiting: its call fails, or is abandoned if it was told to stop. @param {string} why */
  release(why) {
    this.#job?.stopped(STOP.abandoned);
    this.#refuse('BROWSER_ERROR', why);
    this.#unlock.abort();
  }

  /** The worker cannot continue: its call, if it has one, fails. @param {string} code @param {string} message @param {boolean} [retryable] unless the code says so */
  #refuse(code, message, retryable) {
    const job = this.#job;
    if (job?.context.stopped) return this.#terminate(job);
    this.#end();
    const error = this.#kit.abpError(code, message);
    return job?.reject(Object.assign(error, { retryable: retryable ?? error.retryable }));
  }

  #end() {
    if (this.ended) return;
    this.ended = true;
    this.#job = undefined;
    // Until the worker is gone, it may start workers and report that. Its other messages no longer
    // count.
    this.#worker.onerror = null;
    this.#worker.terminate();
    this.#free(this);
  }

  /** No code of the app has run in the worker so far. @param {boolean} locked whether it holds its lock */
  #load(locked) {
    this.#gone = undefined;
    // Later errors are uncaught errors of the app, which the browser reports.
    this.#worker.onerror = null;
    if (locked && navigator.locks) {
      this.#gone = navigator.locks.request(this.#lock, { signal: this.#unlock.signal }, () => {});
      this.#gone.then(() => this.#refuse('OPERATION_FAILED', LOST), () => {});
    }
    this.#worker.postMessage(this.#module);
  }

  #begin() {
    this.#ready = true;
    if (this.#job) this.#start(this.#job);
  }

  /** @param {any[]} message the kind of message, the number of the call, and further parts */
  #receive(message) {
    const [, what, about, first, second] = message;
    const job = this.#job;
    if (what === 'unproven') this.#unproven = true;
    else if (this.ended) return;
    else if (what === 'locked') this.#load(about);
    else if (what === 'ready') this.#begin();
    else if (what === 'unusable') this.#refuse('CAPABILITY_UNAVAILABLE', about, first);
    else if (what === 'unread') this.#unread(about, first);
    // If there will be a proof of its end, the page waits for the proof.
    else if (what === 'closed') this.#gone || this.#refuse('OPERATION_FAILED', LOST);
    else if (!job || about !== this.#serial) return;
    else if (what === 'progress') job.context.progress(first);
    else if (what === 'elicit') this.#answer(first, job.context.elicit(second));
    else if (what === 'abort') this.#asks[first]?.abort(second);
    else if (what === 'call') this.#call(job, message);
    else this.#settle(job, what, first, second);
  }

  /** The handler calls another capability. @param {Job} job @param {any[]} message */
  #call({ context }, [, , , number, capability, params, options, aborted]) {
    const ask = (this.#asks[number] = new AbortController());
    if (aborted) ask.abort(aborted.reason);
    this.#answer(number, context.call(capability, params, { ...options, signal: ask.signal }));
  }

  /** @param {number} number of the handler's request @param {Promise<any>} response */
  #answer(number, response) {
    const { text, carry } = this.#kit;
    this.#asked.add(number);
    void response.then((it) => {
      this.#asked.delete(number);
      if (this.ended) return;
      try {
        // The page keeps its own objects: only objects that cannot be copied are moved.
        carry(['answer', number, it], this.#post, it);
      } catch (error) {
        this.#fail(number, `sent to the worker: ${text(error)}`);
      }
    });
  }

  /** @param {number} number of the handler's request @param {string} how why there is no answer */
  #fail(number, how) {
    this.#worker.postMessage(['answer', number, { success: false, error: { code: 'OPERATION_FAILED', message: `The answer cannot be ${how}`, retryable: false } }]);
  }

  /**
   * The worker cannot read a message: its call, or one of the answers that it waits for.
   *
   * @param {number | undefined} serial of the call that runs in it
   * @param {number[]} asks the numbers of the requests that it waits for
   */
  #unread(serial, asks) {
    if (this.#job && serial !== this.#serial) this.#refuse('INVALID_PARAMS', 'The worker cannot read the parameters');
    // Of two answers, the first counts: an answer that is on its way arrives before this one.
    else for (const number of asks) if (!this.#asked.has(number)) this.#fail(number, 'read by the worker');
  }

  /**
   * The handler of a call has ended, and the worker takes the next one.
   *
   * @param {Job} job
   * @param {string} how
   * @param {any} value
   * @param {number} [step] of its stop that has reached it
   */
  #settle(job, how, value, step) {
    this.#job = undefined;
    if (step !== undefined) job.reached(step);
    if (how === 'done') job.resolve(value);
    else if (how === 'dropped') job.stopped(STOP.dropped);
    else job.reject(value);
    if (how === 'lost') this.#end();
    else this.#free(this);
  }
}
