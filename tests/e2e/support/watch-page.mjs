/**
 * Runs in a page before all scripts. Counts the timers, listeners and memories that are held, so that
 * tests can check that none is left. The function refers to nothing outside itself.
 */
export function watchPage() {
  const held = { timers: new Set(), listeners: 0, memories: /** @type {WebAssembly.Memory[]} */ ([]) };
  const { setTimeout, clearTimeout } = globalThis;
  Object.assign(globalThis, {
    held,
    /** @param {(...args: any[]) => void} work @param {number} delay @param {any[]} args */
    setTimeout: (work, delay, ...args) => {
      const id = setTimeout(() => {
        held.timers.delete(id);
        work(...args);
      }, delay);
      held.timers.add(id);
      return id;
    },
    /** @param {any} id */
    clearTimeout: (id) => {
      held.timers.delete(id);
      clearTimeout(id);
    },
  });
  const { addEventListener, removeEventListener } = EventTarget.prototype;
  /** @type {WeakMap<EventTarget, Set<unknown>>} */
  const known = new WeakMap();
  EventTarget.prototype.addEventListener = function (type, listener, options) {
    if (this instanceof AbortSignal && type === 'abort' && !this.aborted) {
      const of = known.get(this) ?? new Set();
      known.set(this, of);
      if (!of.has(listener)) held.listeners += 1;
      of.add(listener);
      addEventListener.call(this, 'abort', () => of.delete(listener) && (held.listeners -= 1), { once: true });
    }
    return addEventListener.call(this, type, listener, options);
  };
  EventTarget.prototype.removeEventListener = function (type, listener, options) {
    if (this instanceof AbortSignal && known.get(this)?.delete(listener)) held.listeners -= 1;
    return removeEventListener.call(this, type, listener, options);
  };
  for (const name of /** @type {const} */ (['instantiate', 'instantiateStreaming'])) {
    const original = WebAssembly[name];
    /** @param {any[]} args */
    const wrapped = async (...args) => {
      const result = /** @type {any} */ (await /** @type {any} */ (original)(...args));
      const memory = (result.instance ?? result).exports.memory;
      if (memory) held.memories.push(memory);
      return result;
    };
    Object.assign(WebAssembly, { [name]: wrapped });
  }
}

/** Runs in the page. Returns the counts of what is held. */
export function heldInPage() {
  const { held, host } = /** @type {any} */ (globalThis);
  return {
    timers: held.timers.size,
    listeners: held.listeners,
    memory: held.memories.reduce((/** @type {number} */ sum, /** @type {WebAssembly.Memory} */ it) => sum + it.buffer.byteLength, 0),
    ...host?.stats(),
  };
}
