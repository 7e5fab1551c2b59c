/**
 * The one way from JavaScript into a host's wasm.
 *
 * A trap (a panicking capability, an exhausted stack, a corrupt memory) leaves the instance in an
 * unknown state. It is not entered again, and everything that waits for it is answered.
 */
export class Guard {
  /** @type {unknown} */
  trap = undefined;

  /** @param {() => void} onTrap called once, when the instance is lost */
  constructor(onTrap) {
    this.onTrap = onTrap;
  }

  /**
   * @template T
   * @param {() => T} work what calls into wasm; it throws only when the instance is lost
   * @returns {T | undefined}
   */
  enter(work) {
    if (this.trap !== undefined) return undefined;
    try {
      return work();
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  /** @param {unknown} error */
  fail(error) {
    if (this.trap !== undefined) return;
    this.trap = error ?? new Error('The wasm instance is lost');
    console.error('caphost: the wasm instance is lost, its calls are settled with INTERNAL_ERROR:', error);
    this.onTrap();
  }
}
