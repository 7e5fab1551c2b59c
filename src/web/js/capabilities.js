/**
 * The capabilities of a host, for all parts that list them.
 */
import { report } from './errors.js';
import { soon } from './platform.js';
import { Validators } from './validators.js';

/** @import { Shell } from './shell.js' */

export class Capabilities {
  /** @type {Set<() => void>} */
  #listeners = new Set();
  /** Whether they have changed in this turn of the event loop. */
  #untold = false;
  #shell;

  /** @param {Shell} shell */
  constructor(shell) {
    this.#shell = shell;
    this.validators = new Validators((key, verdict) => {
      if (verdict) shell.fail(key, true, verdict);
      else shell.rust.checked(shell.number, key);
    });
  }

  /** @param {number} [by] the connection of the agent whose session can see them @returns {any[]} the Capability objects of the registered capabilities, by name */
  documents(by = 0) {
    return this.#shell.rust.documents(this.#shell.number, by) ?? [];
  }

  /** @param {unknown} name @param {number} [by] @returns {any} its Capability object, if there is one */
  find(name, by) {
    return this.documents(by).find((it) => it.name === name);
  }

  /** The manifest of the registered capabilities. */
  manifest() {
    return { abp: '0.1', app: this.#shell.app, capabilities: this.documents().map(this.entry) };
  }

  /** @param {any} document @returns {any} its entry in the manifest */
  entry({ name, title, annotations, confirm, description, inputSchema, outputSchema }) {
    return { name, ...(title !== undefined && { title }), description, ...(annotations && { annotations }), ...(confirm && { confirm }), inputSchema, outputSchema };
  }

  /**
   * @param {any} document the Capability object, registered from JavaScript or from Rust
   * @param {import('./standard-schema.js').Standard} [standard] the check of its parameters, in place of the document's schema
   */
  added({ name, inputSchema }, standard) {
    this.validators.set(name, inputSchema, standard);
    this.#changed();
  }

  /** @param {string} name */
  removed(name) {
    this.validators.delete(name);
    this.#changed();
  }

  /** Listeners are called once, at the end of the turn, as an app may register thousands of capabilities. */
  #changed() {
    if (this.#untold) return;
    this.#untold = true;
    soon(() => {
      this.#untold = false;
      if (this.#shell.closed) return;
      this.#shell.timeline.emit({ type: 'capabilities' });
      for (const listener of this.#listeners) report(listener);
    });
  }

  /**
   * @param {() => void} listener called once for each turn in which the set of capabilities has changed
   * @returns {() => void} removes the listener
   */
  onChanged(listener) {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
