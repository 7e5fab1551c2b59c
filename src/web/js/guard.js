/**
 * The one way from JavaScript into wasm.
 *
 * A trap (a panicking capability, an exhausted stack, a corrupt memory) leaves the instance in an
 * unknown state. It is not entered again, whoever notices: every host and agent of the instance has
 * a guard, all are told in a fresh job, and everything that waits for it is answered. The crate's
 * panic hook notices what begins past the guards.
 */
import { log, problem, report } from './errors.js';

/** Why the instance of this module is lost. @type {unknown} */
let trap;
/** What a panic has said. */
let said = '';
/** Whether everybody has been told. */
let told = false;
/** Whether a job is to come that tells them, if there is something to tell. */
let watched = false;
/** Frames on the stack that lead into it. */
let depth = 0;
/** Weakly: an agent that nobody has any more is garbage. @type {Set<WeakRef<Guard>>} */
const guards = new Set();

/**
 * @template T
 * @template {any[]} Args
 * @param {(...args: Args) => T} work what calls into wasm; it throws only when the instance is lost
 * @returns {(...args: Args) => T | undefined} the same, which gives undefined when it is
 */
export const guard = (work) => (...args) => {
  // Before, because of a stack that has run out nothing is left to call anything with.
  if (!watched) watch();
  if (trap !== undefined) return undefined;
  depth += 1;
  try {
    return work(...args);
  } catch (error) {
    // A frame further in may have been left because of it, and said so.
    trap ??= error ?? 'The wasm instance is lost';
    return undefined;
  } finally {
    depth -= 1;
    if (depth === awaited) standStill();
  }
};

/** How many frames on the stack lead into wasm. */
export const guardDepth = () => depth;

/** Where a job has no more of them on the stack than this, and is to be ended from outside. */
let awaited = -1;
/** Milliseconds for that. */
const AWAITED = 500;

/** Has the job that runs wait for its end, once it has left the wasm that it is in. @param {number} at depth */
export function awaitEnd(at) {
  awaited = at;
}

function standStill() {
  for (const end = performance.now() + AWAITED; awaited >= 0 && performance.now() < end; );
  awaited = -1;
}

/** The job whose frames were counted was ended from outside: nothing of it is on the stack. */
export function unwound() {
  depth = 0;
  // So was what waited to run after it.
  watched = false;
}

/** The guarded functions of each class of wasm-bindgen's. @type {WeakMap<any, any>} */
const known = new WeakMap();

/**
 * The functions of the wasm half, each of which gives undefined once the instance is lost.
 *
 * @param {any} handle a class of wasm-bindgen's that has nothing but static methods
 * @returns {any}
 */
export function guarded(handle) {
  let functions = known.get(handle);
  if (functions) return functions;
  functions = {};
  for (const name of Object.getOwnPropertyNames(handle)) {
    if (typeof handle[name] === 'function') functions[name] = guard((...args) => handle[name](...args));
  }
  known.set(handle, functions);
  return functions;
}

/**
 * Rust panics, maybe in a task or a closure of the app's own, which no guard has seen begin. It has not
 * been left yet: nobody is told before it has.
 *
 * @param {string} message
 * @param {string} place in the source
 */
export function panicked(message, place) {
  said ||= `: ${message}`;
  trap ??= new Error(`${message} (${place})`);
  watch();
}

/** What is answered once the instance is lost. @param {string} what has failed */
export const lost = (what) => problem('INTERNAL_ERROR', what + said);

const settled = Promise.resolve();

function watch() {
  settled.then(look);
  watched = true;
}

function look() {
  watched = false;
  if (told || trap === undefined) return;
  told = true;
  for (const guard of guards) report(guard.deref()?.onTrap);
  log('error', 'the wasm instance is lost, its calls are settled with INTERNAL_ERROR:', trap);
}

/**
 * Has methods that wasm calls not go back to it once it is lost: whatever they have called may have
 * noticed. What they throw then takes the frames of wasm off the stack.
 *
 * @param {any} target
 * @param {string[]} names
 */
export function oneWay(target, names) {
  for (const name of names) {
    const method = target[name];
    /** @this {any} @param {any[]} args */
    target[name] = function (...args) {
      const result = method.apply(this, args);
      if (trap !== undefined && depth > 0) throw trap;
      return result;
    };
  }
}

export class Guard {
  /** @param {() => void} onTrap called once, when the instance is lost */
  constructor(onTrap) {
    this.onTrap = onTrap;
    for (const guard of guards) if (!guard.deref()) guards.delete(guard);
    guards.add(new WeakRef(this));
  }

  /** Why the instance is lost, if it is. */
  get trap() {
    return trap;
  }
}
