/**
 * One timer for the earliest of many deadlines. The timer is set again only for an earlier deadline:
 * firing too early costs less than moving the timer with every call.
 */
import { now } from './platform.js';

export class Timer {
  /** @type {any} */
  #timer;
  /** The time when it fires, as of `performance.now()`. */
  #due = Infinity;
  #work;

  /** @param {() => void} work arms the timer again */
  constructor(work) {
    this.#work = work;
  }

  /** @param {number} at the earliest deadline, in the time of `performance.now()`; infinite for none */
  arm(at) {
    if (at < this.#due) {
      clearTimeout(this.#timer);
      this.#due = at;
      // A timer holds at most 2^31 - 1 ms. The time is rounded up, because a timer that fires a
      // fraction too early would spin.
      const milliseconds = Math.min(Math.max(0, Math.ceil(at - now())), 0x7fffffff);
      this.#timer = setTimeout(this.#fire, milliseconds);
    } else if (at === Infinity) {
      // A process of Node should not stay alive for this timer.
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
