/**
 * The objects that are moved with a message instead of copied, and the objects with a special copy.
 */
import { OF_ERRORS, isError, isPlain, isSimple, kindOf } from './plain.js';

/** Types that are copied unless the owner gives the object away. */
const MOVABLE = ['ArrayBuffer', 'ImageBitmap', 'OffscreenCanvas', 'AudioData', 'VideoFrame'];
/** Types that are never copied: they can only be moved. */
const MOVED = ['ReadableStream', 'WritableStream', 'TransformStream', 'MessagePort'];

/** @param {string[]} names */
const existing = (names) =>
  names.map((name) => /** @type {any} */ (globalThis)[name]).filter((type) => typeof type === 'function');
const movable = existing(MOVABLE);
const moved = existing(MOVED);

/** The objects that handlers have given away. @type {WeakSet<object>} */
const given = new WeakSet();

/** Marks objects, which are then moved with the data that contain them. @param {object[]} objects */
export const give = (...objects) => objects.forEach((it) => given.add(it));

/** @param {object} it */
export const isGiven = (it) => given.has(it);

/** Whether objects that could also be copied are moved, or which of them. @typedef {boolean | ((it: object) => boolean | undefined)} Wants */

/**
 * The transferable objects in a payload.
 *
 * @param {unknown} payload within the limits of nesting and size
 * @param {Wants} [wants]
 * @returns {Transferable[]}
 */
export const transferables = (payload, wants) => [...search(payload, wants).found];

/** What is found in a simple value. @type {{ found: Transferable[], partial: boolean }} */
const NOTHING = { found: [], partial: false };

/**
 * @param {unknown} payload
 * @param {Wants} [wants]
 * @returns {{ found: Transferable[], partial: boolean }} its transferable objects, and whether it has a view of a part
 *   of a buffer that is not moved
 */
function search(payload, wants) {
  if (isSimple(payload)) return NOTHING;
  let partial = false;
  /** @type {Set<any>} */
  const found = new Set();
  // Progress, notifications and questions of an app may be cyclic.
  const seen = new Set();
  const stack = [payload];
  while (stack.length > 0) {
    /** @type {any} */
    const item = stack.pop();
    if (typeof item !== 'object' || item === null || seen.has(item)) continue;
    seen.add(item);
    const isView = ArrayBuffer.isView(item);
    const owner = isView ? item.buffer : item;
    if (moved.some((type) => item instanceof type)) found.add(item);
    else if ((typeof wants === 'function' ? wants(owner) : wants) && movable.some((type) => owner instanceof type)) found.add(owner);
    else if (isView) partial ||= isPart(item);
    // One by one: a call can take only a limited number of arguments.
    else for (const it of membersOf(item)) stack.push(it);
  }
  return { found: [...found], partial };
}

/** The members that are cloned with an object. @param {any} item @returns {unknown[]} */
function membersOf(item) {
  if (isRecord(item)) return Object.values(item);
  /** @type {unknown[]} */
  const members = [];
  if (isError(item)) members.push(item.cause, item.errors);
  else if (isCollection(item)) item.forEach((/** @type {unknown} */ it, /** @type {unknown} */ key) => members.push(it, key));
  return members;
}

// The checks below accept an object of this realm or another, or a proxy of such an object.

/** @param {any} item */
const isRecord = (item) => Array.isArray(item) || isPlain(item) || (!built.some((type) => item instanceof type) && isOfApp(item, kindOf(item)));
/** Whether an object is of a class of the app, which may have a name for its kind. @param {object} item @param {string} kind */
const isOfApp = (item, kind) => kind === 'Object' || (Object.keys(item).length > 0 && typeof (/** @type {any} */ (globalThis)[kind]) !== 'function');
/** Types whose proxies are not records: a proxy hides the type, and lacks the data that a clone keeps. */
const built = [Date, RegExp, Error, Boolean, Number, String];
/** @param {unknown} item */
const isCollection = (item) => /^(Map|Set)$/.test(kindOf(item));

/**
 * Whether a value is an array whose keys would take long to list. One position is looked at, as an array of mostly
 * holes has few keys.
 *
 * @param {unknown} value @returns {value is unknown[]}
 */
const isLong = (value) => Array.isArray(value) && value.length > 1024 && Math.floor(Math.random() * value.length) in value;

/** @param {ArrayBufferView} view */
const isPart = (view) => view.byteLength < view.buffer.byteLength;

/**
 * Passes a message to a function that clones it. A view is sent without the rest of its buffer, such as
 * the memory of a wasm module. If an object cannot be cloned, such as a reactive proxy, a copy of it is
 * tried. If an object should be moved but cannot be, it is copied.
 *
 * @template T
 * @param {any} message
 * @param {(message: any, moved: Transferable[]) => T} post throws for a value that cannot be cloned
 * @param {unknown} [payload] the part of the message that others have made
 * @param {Wants} [wants]
 * @param {Transferable[]} [kept] buffers that go with their views whatever becomes of the rest
 * @returns {T}
 */
export function carry(message, post, payload = message, wants, kept = []) {
  const { found, partial } = search(payload, wants);
  try {
    return post(partial ? copyOf(message, [...found, ...kept]) : message, found);
  } catch (error) {
    // A TypeError, for an object that cannot be moved.
    if (!/^(DataClone|Type)Error$/.test(/** @type {any} */ (error)?.name)) throw error;
    return post(copyOf(message, kept), transferables(payload));
  }
}

/**
 * Does the same for a message of a host.
 *
 * @param {{ type?: unknown, payload?: any }} envelope
 * @param {(message: any, moved: Transferable[]) => void} post
 */
export const toAgent = (envelope, post) =>
  carry(envelope, post, envelope.payload, envelope.type === 'capabilities/call-result' && isGiven);

/**
 * A copy of the objects that contain the cloned objects.
 *
 * @param {any} value
 * @param {Transferable[]} [kept] the buffers that go with their views
 * @param {Map<object, any>} [met]
 * @returns {any}
 */
export function copyOf(value, kept = [], met = new Map()) {
  if (typeof value !== 'object' || value === null || met.has(value)) return met.get(value) ?? value;
  const inner = (/** @type {unknown} */ it) => copyOf(it, kept, met);
  const made = (/** @type {any} */ it) => (met.set(value, it), it);
  if (isLong(value)) {
    const copy = made(value.slice());
    for (let at = 0; at < copy.length; at += 1) if (at in copy) copy[at] = inner(copy[at]);
    return copy;
  }
  if (isRecord(value)) {
    const copy = made(Array.isArray(value) ? Object.assign(Array(value.length), value) : { ...value });
    for (const key of Object.keys(copy)) copy[key] = inner(copy[key]);
    return copy;
  }
  if (isError(value)) {
    const copy = made(Object.setPrototypeOf(new Error(), Object.getPrototypeOf(value)));
    for (const key of OF_ERRORS) {
      if (value[key] !== undefined) Object.defineProperty(copy, key, /** @type {any} */ ({ __proto__: null, value: inner(value[key]), configurable: true, writable: true }));
    }
    return copy;
  }
  const Type = /** @type {any} */ (globalThis)[kindOf(value)];
  if (isCollection(value)) {
    const copy = made(new Type());
    value.forEach((/** @type {unknown} */ it, /** @type {unknown} */ key) => (copy.set ? copy.set(inner(key), inner(it)) : copy.add(inner(it))));
    return copy;
  }
  if (!ArrayBuffer.isView(value) || !isPart(value) || kept.includes(/** @type {any} */ (value.buffer))) return value;
  return made(new Type(new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice().buffer));
}
