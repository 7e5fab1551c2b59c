/**
 * One timer for the earliest of many deadlines. It is set again only when that comes earlier: one
 * that fires too early costs less than moving it with every call.
 */
import { now } from './platform.js';

export class Timer {
  /** @type {any} */
  #timer;
  /** When it fires, in the time of `performance.now()`. */
  #due = Infinity;
  #work;

  /** @param {() => void} work which arms it again */
  constructor(work) {
    this.#work = work;
  }

  /** @param {number} at the earliest deadline, in the time of `performance.now()`; infinite for none */
  arm(at) {
    if (at < this.#due) {
      clearTimeout(this.#timer);
      this.#due = at;
      // A timer holds at most 2^31 - 1 ms. Rounded up, because one that fires a fraction too early
      // would spin.
      const milliseconds = Math.min(Math.max(0, Math.ceil(at - now())), 0x7fffffff);
      this.#timer = setTimeout(this.#fire, milliseconds);
    } else if (at === Infinity) {
      // A process of Node does not wait for it.
      this.#timer?.unref?.();
    } else this.#timer?.ref?.();
  }

  stop() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#due = Infinity;
  }

  #fire = () => {
    this.#timer = undefined;
    this.#due = Infinity;
    this.#work();
  };
}
