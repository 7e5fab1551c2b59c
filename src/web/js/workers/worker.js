/**
 * The script of a worker. It takes the lock that proves the worker's end, loads the module of the
 * handler, and runs one call at a time.
 *
 * A worker loads nothing else, except what the app's module loads itself. The package and the crate
 * contain this script as a bundle that is both a module and a classic script.
 */
import { failure, later, log, text } from '../errors.js';
import { copyIfAny, detailsOf, messageOf } from '../failure.js';
import { STEP } from './numbers.js';
import { bare, get, getA } from '../read.js';
import { underSignal } from '../signal.js';
import { carry } from '../transfer.js';

/** @import { WorkerContext } from '../../../../npm/index.js' */

/**
 * @typedef {(params: any, context: WorkerContext) => unknown} Handler
 *
 * @typedef {object} Served a capability of a wasm module of the app's
 * @property {(params: any, call: Call) => void} start
 * @property {() => void} poll polls the future
 * @property {() => void} stop drops the future
 */

/** Milliseconds between two progress messages: nobody sees more than one per frame. */
const FRAME = 16;

/** The worker's own global object. @type {any} */
const scope = globalThis;
/** The Rust handlers, by the names of their capabilities. `serve.js` adds to it. @type {Map<string, Served>} */
const served = (scope[Symbol.for('caphost.served')] = Object.assign(new Map(), { lost }));

/** Shared memory with the number of the call that must stop. @type {Int32Array | undefined} */
let flag;
/** @type {Call | undefined} */
let current;
/** The message of a panic of the app's wasm module. @type {string | undefined} */
let panic;
/** The number of calls and questions that handlers have made. */
let asked = 0;
/** @type {Map<number, (response: any) => void>} */
const asks = new Map();

// The app's code may replace these.
const { close, Worker: Native } = scope;
const post = scope.postMessage.bind(scope);
/**
 * The module has panicked, perhaps in a task of the app. Its frames are still on the stack.
 *
 * @param {string} message
 */
function lost(message) {
  panic ??= message;
  later(() => (current ? current.lose(message) : say(['unusable', `It has failed: ${message}`])));
}

/** Known only to the page and to this file, so that messages of the app's code are ignored. @type {number} */
let token;

/** @param {any[]} message @param {Transferable[]} [transfer] */
const say = (message, transfer = []) => post([token, ...message], transfer);

// Without locks, nobody notices the worker's end.
scope.close = () => {
  say(['closed']);
  close.call(scope);
};

/** Reports that the worker's end proves nothing any more. */
const doubt = () => say(['unproven']);

// The worker's own workers may outlive it, in Chromium by seconds, and its lock does not show that.
if (Native) {
  scope.Worker = class Worker extends Native {
    /** @param {any[]} given */
    constructor(...given) {
      doubt();
      super(...given);
    }
  };
}

/** One call, for the code that runs it. A JavaScript handler gets its `context`. */
class Call {
  /** @type {AbortController | undefined} */
  #controller;
  /** The last step of the stop that has reached the handler. @type {number | undefined} */
  #step;
  /** Set when the stop has arrived by a message. @type {{ reason?: string } | undefined} */
  #stopped;
  /** @type {Set<any> | undefined} */
  #moved;
  /** The latest progress that was not sent yet. @type {object | undefined} */
  #progress;
  #saidAt = -FRAME;
  #over = false;

  /** @param {number} serial @param {string} name of the capability @param {string} callId @param {Served} [served] */
  constructor(serial, name, callId, served) {
    this.name = name;
    this.serial = serial;
    this.callId = callId;
    this.served = served;
  }

  get signal() {
    if (!this.#controller) {
      this.#controller = new AbortController();
      this.#abort();
    }
    return this.#controller.signal;
  }

  /** Whether the handler was told to stop, or has seen that it must stop. */
  get told() {
    return this.#stopped !== undefined || this.#step !== undefined;
  }

  /** A handler that calls this learns of the stop. */
  cancelled() {
    if (flag && Atomics.load(flag, 0) === this.serial) this.#step ??= STEP.flag;
    else if (this.#stopped) this.#step ??= STEP.signal;
    return this.#step !== undefined;
  }

  /** @param {object} info */
  progress(info) {
    if (typeof info !== 'object' || info === null) throw new TypeError('Progress is an object');
    const waits = this.#progress !== undefined;
    this.#progress = { ...info };
    if (performance.now() - this.#saidAt >= FRAME) this.#tell();
    else if (!waits) setTimeout(() => this.#tell(), FRAME);
  }

  #tell() {
    const info = this.#progress;
    this.#progress = undefined;
    if (info === undefined || this.#over) return;
    this.#saidAt = performance.now();
    try {
      say(['progress', this.serial, info]);
    } catch (error) {
      log('warn', 'progress that cannot be sent is dropped:', error);
    }
  }

  /** Marks objects that are moved with the data. @param {Iterable<any>} objects */
  transfer(objects) {
    this.#moved ??= new Set();
    for (const it of objects) this.#moved.add(it);
  }

  /** @param {string} capability @param {object} [params] @param {any} [options] */
  call(capability, params = {}, options = {}) {
    // Other options may be values that cannot be sent.
    const { signal, timeout, callId, progressToken } = bare(options ?? {}, ['signal', 'timeout', 'callId', 'progressToken']);
    const number = (asked += 1);
    return underSignal(
      signal,
      (reason) => say(['abort', this.serial, number, reason]),
      (aborted) => this.#ask('call', number, capability, params, { timeout, callId, progressToken }, aborted),
    );
  }

  /** @param {string} what @param {any[]} payload @returns {Promise<any>} an ABPResponse */
  ask(what, ...payload) {
    return this.#ask(what, (asked += 1), ...payload);
  }

  /** @param {string} what @param {number} number of the request @param {any[]} payload @returns {Promise<any>} an ABPResponse */
  async #ask(what, number, ...payload) {
    // The same answer as the page's.
    if (this.#over && what === 'call') return failure('PRECONDITION_FAILED', 'The call that made this one has ended');
    if (this.#over) return { success: false, cancelled: true, metadata: { stop: 'never-started' } };
    try {
      carry([what, this.serial, number, ...payload], say, payload);
    } catch (error) {
      return failure('INVALID_PARAMS', `It cannot be sent: ${text(error)}`);
    }
    return new Promise((resolve) => void asks.set(number, resolve));
  }

  /** The message about the stop has arrived. @param {string} [reason] */
  stop(reason) {
    this.#stopped = { reason };
    this.#abort();
    this.guard(this.served?.stop);
  }

  #abort() {
    if (!this.#controller || !this.#stopped) return;
    this.#step ??= STEP.signal;
    this.#controller.abort(new DOMException(this.#stopped.reason ?? 'The call was cancelled', 'AbortError'));
  }

  /** The future of a handler in Rust was dropped because of the stop. */
  dropped() {
    this.#step ??= STEP.signal;
    this.end('dropped');
  }

  /** The future of a handler in Rust can go on. */
  schedule() {
    void Promise.resolve().then(() => current === this && this.guard(this.served?.poll));
  }

  /** After a trap the module is in an unknown state: the worker runs no more calls. @param {(() => void) | undefined} work into wasm */
  guard(work) {
    try {
      if (panic === undefined) return work?.();
      this.lose(panic);
    } catch (error) {
      this.lose(panic ?? text(error));
    }
    return undefined;
  }

  /** @param {string} why */
  lose(why) {
    this.end('lost', { code: 'INTERNAL_ERROR', message: `The capability has failed: ${why}` });
  }

  /**
   * @param {'done' | 'failed' | 'dropped' | 'lost'} how
   * @param {any} [value]
   * @param {boolean} [fresh] whether nobody else has a reference to its parts
   */
  end(how, value, fresh = false) {
    if (this.#over) return;
    this.#tell();
    try {
      carry([how, this.serial, value, this.#step], say, value, fresh || ((it) => this.#moved?.has(it)));
    } catch (error) {
      // In an error, the details are the part that cannot be sent.
      const unfit = how === 'done' ? { code: 'OPERATION_FAILED', message: `The capability returned data that cannot be sent: ${text(error)}` } : { ...value, details: undefined };
      if (how === 'done' && !this.told) log('error', `${this.name} (call ${this.callId}) has failed:`, unfit.message);
      say(['failed', this.serial, unfit, this.#step]);
    }
    this.#over = true;
    current = undefined;
  }
}

/**
 * The context of a JavaScript handler. It has functions rather than methods, so that a handler can take
 * them out of the context. They are made on first use, as most handlers never need them.
 *
 * @implements {WorkerContext}
 */
class Context {
  #call;

  /** @param {Call} call */
  constructor(call) {
    this.#call = call;
    // Handlers call this again and again.
    this.cancelled = () => call.cancelled();
  }

  get callId() {
    return this.#call.callId;
  }

  get signal() {
    return this.#call.signal;
  }

  /** @type {WorkerContext['progress']} */
  get progress() {
    return (info) => this.#call.progress(info);
  }

  /** @type {WorkerContext['call']} */
  get call() {
    return (/** @type {[string, object?, object?]} */ ...given) => this.#call.call(...given);
  }

  /** @type {WorkerContext['elicit']} */
  get elicit() {
    return (request) => this.#call.ask('elicit', request);
  }

  /** @type {WorkerContext['transfer']} */
  get transfer() {
    return (...objects) => this.#call.transfer(objects);
  }
}

/** @param {Handler} handler @param {any} params @param {Call} call */
async function run(handler, params, call) {
  try {
    call.end('done', await handler(params, new Context(call)));
  } catch (error) {
    const failed = failureOf(error);
    // The page gets the message. The rest is for the author of the handler, unless the handler was told
    // to stop.
    if (typeof failed.code !== 'string' && !call.told) log('error', `${call.name} (call ${call.callId}) has failed:`, error);
    call.end('failed', failed);
  }
}

/** An Error would lose its code. @param {any} error */
const failureOf = (error) => ({
  code: getA('string', error, 'code'),
  message: messageOf(error),
  retryable: getA('boolean', error, 'retryable'),
  retryAfter: getA('number', error, 'retryAfter'),
  alternatives: copyIfAny(get(error, 'alternatives')),
  details: detailsOf(error, copyIfAny),
});

/** @param {string} name @returns {Promise<boolean>} whether it is held, for as long as the worker lives */
const hold = (name) =>
  new Promise((resolve) => {
    const none = () => resolve(false);
    const held = () => new Promise(() => resolve(true));
    // After the lock was granted, a rejection means that it was stolen.
    if (navigator.locks) navigator.locks.request(name, held).catch(doubt).then(none);
    else none();
  });

/**
 * @param {string} url
 * @param {string} type
 * @returns {Promise<Handler | undefined>} undefined for a wasm module, whose capabilities are `served`
 */
async function load(url, type) {
  if (type === 'classic') scope.importScripts(url);
  // Bundlers remove the exports of a worker's script.
  const main = (type !== 'classic' && (await import(url)).default) || scope.handler;
  if (typeof main !== 'function') throw new TypeError(type === 'classic' ? 'it sets no function `handler`' : 'its default export is not a function. If a bundler has dropped that, set the global `handler`');
  if (type !== 'wasm') return main;
  await main();
  return undefined;
}

/**
 * Receives the page's next message.
 *
 * @type {(message: any[]) => unknown}
 */
let receive = async ([lock, shared, secret]) => {
  flag = shared;
  token = secret;
  receive = ([url, type]) => begin(url, type);
  // The page waits for the lock before any of the app's code runs here.
  say(['locked', await hold(lock)]);
};

// No listener of the app is called before this one, or sees these messages.
scope.addEventListener('message', (/** @type {MessageEvent} */ event) => {
  if (!event.isTrusted) return;
  event.stopImmediatePropagation();
  receive(event.data);
}, true);

// It is unknown which message it was.
scope.addEventListener('messageerror', () => say(['unread', current?.serial, [...asks.keys()]]), true);

/** @param {string} url @param {string} type */
async function begin(url, type) {
  try {
    const handler = await load(url, type);
    receive = ([what, number, ...rest]) => receiveMore(what, number, rest, handler);
    say(['ready']);
  } catch (/** @type {any} */ error) {
    const short = url.replace(/^(data:.{35}).+/, '$1…').slice(0, 200);
    const hint = /^data:(?!\w+\/javascript)/.test(url) ? '. A bundler has inlined a TypeScript file: import it with ?worker&url' : '';
    // A failed fetch may succeed next time. A module that was fetched but does not load will not load
    // next time either.
    const fetched = url.startsWith('data:') || !(error?.name === 'NetworkError' || (error instanceof TypeError && /dynamically imported|importing a module/i.test(error.message)));
    say(['unusable', `${short} cannot be loaded: ${text(error).replaceAll(url, short).slice(0, 500)}${hint}`, !fetched]);
  }
}

/**
 * @param {string} what
 * @param {number} number of the call, or of its request
 * @param {any[]} said
 * @param {Handler} [handler]
 */
function receiveMore(what, number, said, handler) {
  if (what === 'answer') {
    asks.get(number)?.(said[0]);
    asks.delete(number);
  } else if (what === 'run') {
    const [name, callId, params] = said;
    const own = handler ? undefined : served.get(name);
    const call = (current = new Call(number, name, callId, own));
    if (handler) void run(handler, params, call);
    else if (own) call.guard(() => own.start(params, call));
    else call.end('failed', { code: 'CAPABILITY_UNAVAILABLE', message: `The module serves no "${name}": call worker::serve or worker::serve_sync with that name in its start function` });
  } else if (current?.serial === number) current.stop(said[0]);
}
