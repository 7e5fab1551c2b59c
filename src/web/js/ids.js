/**
 * The ids of calls. Rust makes them, many at once, and knows each by its place among them: an id is
 * handed out in JavaScript, and no text goes back to Rust.
 */
import { uniqueName } from './platform.js';

/** The characters of a UUID. */
const LENGTH = 36;

/** The ids of each half of the package. @type {WeakMap<any, Ids>} */
const known = new WeakMap();

class Ids {
  #rust;
  /** The ids that Rust made last, one after the other. */
  #texts = '';
  #place = 0;

  /** @param {any} rust the functions of the wasm half */
  constructor(rust) {
    this.#rust = rust;
  }

  /** @returns {number} the place of an id that nobody else has. Rust knows the place until the next is taken */
  take() {
    this.#place += 1;
    if (this.#place * LENGTH >= this.#texts.length) {
      // A lost instance makes no ids, and takes no calls.
      this.#texts = this.#rust.ids() ?? uniqueName();
      this.#place = 0;
    }
    return this.#place;
  }

  /** @param {number} place of the id that was taken last */
  textAt(place) {
    return this.#texts.slice(place * LENGTH, (place + 1) * LENGTH);
  }

  /**
   * Gives a call an id, if it has none.
   *
   * @param {{ callId?: string }} call
   * @returns {number} the place of the id; negative if the call had an id
   */
  name(call) {
    if (call.callId !== undefined) return -1;
    const place = this.take();
    call.callId = this.textAt(place);
    return place;
  }

  /** @returns {string} an id that nobody else has: a UUID (version 4) */
  next() {
    return this.textAt(this.take());
  }
}

/** @param {any} rust the functions of the wasm half @returns {Ids} */
export function idsOf(rust) {
  const ids = known.get(rust) ?? new Ids(rust);
  known.set(rust, ids);
  return ids;
}
