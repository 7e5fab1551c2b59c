/**
 * What runs in a worker: it takes the lock that proves the worker's end, loads the module of the
 * handler, and runs one call at a time.
 *
 * Nothing else is loaded into a worker, beside what the app's module loads itself. The package and the
 * crate have this bundled, as what is both a module and a classic script.
 */
import { failure, later, log, text } from '../errors.js';
import { copyIfAny, detailsOf, messageOf } from '../failure.js';
import { get, getA } from '../read.js';
import { underSignal } from '../signal.js';
import { carry } from '../transfer.js';

/** @import { WorkerContext } from '../../../../npm/index.js' */

/**
 * @typedef {(params: any, context: WorkerContext) => unknown} Handler
 *
 * @typedef {object} Served a capability of a wasm module of the app's
 * @property {(params: any, call: Call) => void} start
 * @property {() => void} poll has the future go on
 * @property {() => void} stop drops the future
 */

/** Milliseconds: progress is told no more often, as nobody sees more than a frame. */
const FRAME = 16;

/** What of a stop has reached a handler, as Rust numbers it. */
const SIGNAL = 0;
const FLAG = 1;

/** The worker's own global object. @type {any} */
const scope = globalThis;
/** By the names of their capabilities; `serve.js` adds to it. @type {Map<string, Served>} */
const served = (scope[Symbol.for('caphost.served')] = Object.assign(new Map(), { lost }));

/** Where the number of the call stands that is to stop. @type {Int32Array | undefined} */
let flag;
/** @type {Call | undefined} */
let current;
/** What the wasm module of the app's has said when it panicked. @type {string | undefined} */
let panic;
/** How many calls and questions handlers have made. */
let asked = 0;
/** @type {Map<number, (response: any) => void>} */
const asks = new Map();

// The app's code may set these for its own ends.
const { close, Worker: Native } = scope;
const post = scope.postMessage.bind(scope);
/**
 * The module has panicked, maybe in a task of the app's own, and has not been left yet.
 *
 * @param {string} message
 */
function lost(message) {
  panic ??= message;
  later(() => (current ? current.lose(message) : say(['unusable', `It has failed: ${message}`])));
}

/** Known to the page and to this file alone: what the app's code posts is nobody's. @type {number} */
let token;

/** @param {any[]} message @param {Transferable[]} [transfer] */
const say = (message, transfer = []) => post([token, ...message], transfer);

// Where there are no locks nobody sees its end.
scope.close = () => {
  say(['closed']);
  close.call(scope);
};

/** Its end proves nothing any more. */
const doubt = () => say(['unproven']);

// Its own workers may outlive it, in Chromium by seconds, and its lock tells nothing of them.
if (Native) {
  scope.Worker = class Worker extends Native {
    /** @param {any[]} given */
    constructor(...given) {
      doubt();
      super(...given);
    }
  };
}

/** One call, for what runs it. A handler in JavaScript is given its `context`. */
class Call {
  /** @type {AbortController | undefined} */
  #controller;
  /** What has reached the handler. @type {number | undefined} */
  #step;
  /** The stop has come by a message. @type {{ reason?: string } | undefined} */
  #stopped;
  /** @type {Set<any> | undefined} */
  #moved;
  /** What was told last, and not yet said. @type {object | undefined} */
  #progress;
  #saidAt = -FRAME;
  #over = false;

  /** @param {number} serial @param {string} callId @param {Served} [served] */
  constructor(serial, callId, served) {
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

  /** Whether the handler was told to stop, or has seen that it is to. */
  get told() {
    return this.#stopped !== undefined || this.#step !== undefined;
  }

  /** Whoever looks knows by it. */
  cancelled() {
    if (flag && Atomics.load(flag, 0) === this.serial) this.#step ??= FLAG;
    else if (this.#stopped) this.#step ??= SIGNAL;
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

  /** Is moved with the data. @param {Iterable<any>} objects */
  transfer(objects) {
    this.#moved ??= new Set();
    for (const it of objects) this.#moved.add(it);
  }

  /** @param {string} capability @param {object} [params] @param {any} [options] */
  call(capability, params = {}, options = {}) {
    // What else may stand there need not be what can be sent.
    const { signal, timeout, callId, progressToken } = options ?? {};
    let number = 0;
    return underSignal(
      signal,
      (reason) => say(['abort', this.serial, number, reason]),
      (aborted) => {
        const answer = this.ask('call', capability, params, { timeout, callId, progressToken }, aborted);
        number = asked;
        return answer;
      },
    );
  }

  /** @param {string} what @param {any[]} payload @returns {Promise<any>} an ABPResponse */
  async ask(what, ...payload) {
    // As the page answers it.
    if (this.#over && what === 'call') return failure('PRECONDITION_FAILED', 'The call that made this one has ended');
    if (this.#over) return { success: false, cancelled: true, metadata: { stop: 'never-started' } };
    const number = (asked += 1);
    try {
      carry([what, this.serial, number, ...payload], say, payload);
    } catch (error) {
      return failure('INVALID_PARAMS', `It cannot be sent: ${text(error)}`);
    }
    return new Promise((resolve) => void asks.set(number, resolve));
  }

  /** The message has come. @param {string} [reason] */
  stop(reason) {
    this.#stopped = { reason };
    this.#abort();
    this.guard(this.served?.stop);
  }

  #abort() {
    if (!this.#controller || !this.#stopped) return;
    this.#step ??= SIGNAL;
    this.#controller.abort(new DOMException(this.#stopped.reason ?? 'The call was cancelled', 'AbortError'));
  }

  /** The future of a handler in Rust was dropped because of the stop. */
  dropped() {
    this.#step ??= SIGNAL;
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
   * @param {boolean} [fresh] nobody else has what is in it
   */
  end(how, value, fresh = false) {
    if (this.#over) return;
    this.#tell();
    try {
      carry([how, this.serial, value, this.#step], say, value, fresh || ((it) => this.#moved?.has(it)));
    } catch (error) {
      // Of an error, it is the details that cannot be sent.
      const unfit = how === 'done' ? { code: 'OPERATION_FAILED', message: `The capability returned data that cannot be sent: ${text(error)}` } : { ...value, details: undefined };
      if (how === 'done' && !this.told) log('error', `call ${this.callId} has failed:`, unfit.message);
      say(['failed', this.serial, unfit, this.#step]);
    }
    this.#over = true;
    current = undefined;
  }
}

/**
 * What a handler in JavaScript is given. Functions rather than methods, so that it can take them out
 * of it, and made when they are asked for: most handlers never do.
 *
 * @implements {WorkerContext}
 */
class Context {
  #call;

  /** @param {Call} call */
  constructor(call) {
    this.#call = call;
    // Asked time and again.
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

/** @param {Handler} handler @param {string} name @param {any} params @param {Call} call */
async function run(handler, name, params, call) {
  try {
    call.end('done', await handler(params, new Context(call)));
  } catch (error) {
    const failed = failureOf(error);
    // The page is told the message. The rest is for whoever writes the handler, unless it was told to stop.
    if (typeof failed.code !== 'string' && !call.told) log('error', `${name} (call ${call.callId}) has failed:`, error);
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
    // Once it is held, this means that it was stolen.
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
  // Bundlers drop the exports of a worker's script.
  const main = (type !== 'classic' && (await import(url)).default) || scope.handler;
  if (typeof main !== 'function') throw new TypeError(type === 'classic' ? 'it sets no function `handler`' : 'its default export is not a function. If a bundler has dropped that, set the global `handler`');
  if (type !== 'wasm') return main;
  await main();
  return undefined;
}

/**
 * What the page says next.
 *
 * @type {(message: any[]) => unknown}
 */
let hear = async ([lock, shared, secret]) => {
  flag = shared;
  token = secret;
  hear = ([url, type]) => begin(url, type);
  // The page waits for the lock before any of the app's code runs here.
  say(['locked', await hold(lock)]);
};

// No listener of the app's comes before it, or hears what is said here.
scope.addEventListener('message', (/** @type {MessageEvent} */ event) => {
  if (!event.isTrusted) return;
  event.stopImmediatePropagation();
  hear(event.data);
}, true);

// Which message it was nobody knows.
scope.addEventListener('messageerror', () => say(['unread', current?.serial, [...asks.keys()]]), true);

/** @param {string} url @param {string} type */
async function begin(url, type) {
  try {
    const handler = await load(url, type);
    hear = ([what, number, ...rest]) => heed(what, number, rest, handler);
    say(['ready']);
  } catch (/** @type {any} */ error) {
    const short = url.replace(/^(data:.{35}).+/, '$1…').slice(0, 200);
    const hint = /^data:(?!\w+\/javascript)/.test(url) ? '. A bundler has inlined a TypeScript file: import it with ?worker&url' : '';
    // What cannot be fetched may be there the next time; what can be, and does not load, stays as it is.
    const fetched = url.startsWith('data:') || !(error?.name === 'NetworkError' || (error instanceof TypeError && /dynamically imported|importing a module/i.test(error.message)));
    say(['unusable', `${short} cannot be loaded: ${text(error).replaceAll(url, short).slice(0, 500)}${hint}`, !fetched]);
  }
}

/**
 * @param {string} what
 * @param {number} number of the call, or of what it has asked
 * @param {any[]} said
 * @param {Handler} [handler]
 */
function heed(what, number, said, handler) {
  if (what === 'answer') {
    asks.get(number)?.(said[0]);
    asks.delete(number);
  } else if (what === 'run') {
    const [name, callId, params] = said;
    const own = handler ? undefined : served.get(name);
    const call = (current = new Call(number, callId, own));
    if (handler) void run(handler, name, params, call);
    else if (own) call.guard(() => own.start(params, call));
    else call.end('failed', { code: 'CAPABILITY_UNAVAILABLE', message: `The module serves no "${name}": call worker::serve or worker::serve_sync with that name in its start function` });
  } else if (current?.serial === number) current.stop(said[0]);
}
