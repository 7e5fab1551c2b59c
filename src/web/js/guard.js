/**
 * The one way from JavaScript into wasm.
 *
 * A trap (a panicking capability, an exhausted stack, a corrupt memory) leaves the instance of a module in
 * an unknown state. After that nothing enters this instance, no matter where the trap was noticed. Every
 * host and agent of the instance has a guard. All guards are told in a fresh job, and every waiting request
 * is answered. The instance of another module goes on. The crate's panic hook notices panics of code that
 * does not enter through a guard.
 */
import { log, problem, report } from './errors.js';

const settled = Promise.resolve();

/** What is known of the instance of a module. */
class Instance {
  /** Why the instance is lost. @type {unknown} */
  trap;
  /** The message of the panic. */
  said = '';
  /** Whether all guards have been told. */
  #told = false;
  /** Whether a job is scheduled that tells them, if there is a trap. */
  watched = false;
  /** Weak references, so that an unused agent can be garbage collected. @type {Set<WeakRef<Guard>>} */
  guards = new Set();

  watch() {
    settled.then(() => this.#look());
    this.watched = true;
  }

  #look() {
    this.watched = false;
    if (this.#told || this.trap === undefined) return;
    this.#told = true;
    for (const guard of this.guards) report(guard.deref()?.onTrap);
    log('error', 'the wasm instance is lost, its calls are settled with INTERNAL_ERROR:', this.trap);
  }
}

/** The instance of an app in Rust, whose module has both halves. */
const shared = new Instance();
/** The instances of the modules of the npm package, by their classes. @type {Map<any, Instance>} */
const separate = new Map();
/** The instance that was entered last and has not returned. @type {Instance | undefined} */
let entered;
/** The number of frames on the stack that lead into wasm. */
let depth = 0;

/** @param {any} handle a class of wasm-bindgen */
const instanceOf = (handle) => separate.get(handle) ?? shared;

/** Whether the module of an app in Rust is lost. */
export const isLost = () => shared.trap !== undefined;

/** Tells that the module of a class has no other class. @param {any} handle */
export const isAlone = (handle) => void separate.set(handle, new Instance());

/**
 * The arguments have names, because an array of them costs more than the rest of a guard.
 *
 * @param {any} owner of a function that calls into wasm, with 13 arguments at most, and throws only when the
 *   instance is lost
 * @param {string} name of the function, which is looked up at each call: a test may have replaced it
 * @param {Instance} instance that it enters
 * @returns the same function, which returns undefined once the instance is lost
 */
const entry = (owner, name, instance) => (/** @type {any} */ a, /** @type {any} */ b, /** @type {any} */ c, /** @type {any} */ d, /** @type {any} */ e, /** @type {any} */ f, /** @type {any} */ g, /** @type {any} */ h, /** @type {any} */ i, /** @type {any} */ j, /** @type {any} */ k, /** @type {any} */ l, /** @type {any} */ m) => {
  // Before the call: after a stack overflow, no stack is left to call anything.
  if (!instance.watched) instance.watch();
  if (instance.trap !== undefined) return undefined;
  const outer = entered;
  entered = instance;
  depth += 1;
  try {
    return owner[name](a, b, c, d, e, f, g, h, i, j, k, l, m);
  } catch (error) {
    // An inner frame may already have failed for the same reason, and recorded it.
    instance.trap ??= error ?? 'The wasm instance is lost';
    return undefined;
  } finally {
    entered = outer;
    depth -= 1;
    if (depth === awaited) standStill();
  }
};

/**
 * @template {any[]} Args
 * @template T
 * @param {(...args: Args) => T} work calls into the module of an app in Rust
 * @returns {(...args: Args) => T | undefined} the same function, which returns undefined once the instance is lost
 */
export const guard = (work) => /** @type {any} */ (entry({ work }, 'work', shared));

/** How many frames on the stack lead into wasm. */
export const guardDepth = () => depth;

/** The frame depth down to which a job returns before it waits for its end from outside; negative for none. */
let awaited = -1;
/** The time for that in milliseconds. */
const AWAITED = 500;

/** Makes the current job wait for its end, once it has left its wasm frames. @param {number} at depth */
export function awaitEnd(at) {
  awaited = at;
}

function standStill() {
  for (const end = performance.now() + AWAITED; awaited >= 0 && performance.now() < end; );
  awaited = -1;
}

/** The job whose frames were counted was ended from outside: its frames are no longer on the stack. */
export function unwound() {
  depth = 0;
  entered = undefined;
  // The work that waited to run after that job is gone, too.
  for (const instance of [shared, ...separate.values()]) instance.watched = false;
}

/** The guarded functions of each class of wasm-bindgen. @type {WeakMap<any, any>} */
const known = new WeakMap();

/**
 * The functions of the wasm half. Each returns undefined once the instance is lost.
 *
 * @param {any} handle a class of wasm-bindgen with only static methods
 * @returns {any}
 */
export function guarded(handle) {
  let functions = known.get(handle);
  if (functions) return functions;
  functions = {};
  for (const name of Object.getOwnPropertyNames(handle)) {
    if (typeof handle[name] !== 'function') continue;
    functions[name] = entry(handle, name, instanceOf(handle));
  }
  known.set(handle, functions);
  return functions;
}

/**
 * Rust panics, perhaps in a task or a closure of the app that did not enter through a guard. The wasm
 * frames are still on the stack: the guards are told after they are gone.
 *
 * @param {string} message
 * @param {string} place in the source
 */
export function panicked(message, place) {
  const instance = entered ?? shared;
  instance.said ||= `: ${message}`;
  instance.trap ??= new Error(`${message} (${place})`);
  instance.watch();
}

/**
 * What waits when the instance is lost, in the order of its answers: cancels before calls. This is the one
 * rule that is not in Rust, because a lost instance decides nothing.
 *
 * @template T
 * @param {Iterable<T>} pending
 * @param {(it: T) => boolean} isCancel
 */
export const cancelsFirst = (pending, isCancel) => [...pending].sort((a, b) => Number(isCancel(b)) - Number(isCancel(a)));

/**
 * Prevents methods that wasm calls from returning to wasm once the instance is lost: code that they
 * called may have noticed the trap. The exception that they throw then removes the wasm frames from the
 * stack.
 *
 * @param {any} target
 * @param {string[]} names
 */
export function oneWay(target, names) {
  for (const name of names) {
    const method = target[name];
    /** @this {any} @param {any} a @param {any} b @param {any} c @param {any} d @param {any} e @param {any} f */
    target[name] = function (a, b, c, d, e, f) {
      const result = method.call(this, a, b, c, d, e, f);
      if (entered?.trap !== undefined) throw entered.trap;
      return result;
    };
  }
}

export class Guard {
  #instance;

  /**
   * @param {any} handle the functions of the wasm half
   * @param {() => void} onTrap called once, when the instance is lost
   */
  constructor(handle, onTrap) {
    this.onTrap = onTrap;
    const { guards } = (this.#instance = instanceOf(handle));
    for (const guard of guards) if (!guard.deref()) guards.delete(guard);
    guards.add(new WeakRef(this));
  }

  /** Why the instance is lost, if it is. */
  get trap() {
    return this.#instance.trap;
  }

  /** The answer once the instance is lost. @param {string} what the text that says what has failed */
  lost(what) {
    return problem('INTERNAL_ERROR', what + this.#instance.said);
  }
}
