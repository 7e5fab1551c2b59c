/**
 * The capabilities that a gateway knows.
 */

/** @import { Capabilities } from '../capabilities.js' */

export class Offer {
  #capabilities;
  /** By name; undefined if the gateway's state is unknown. @type {Map<string, any> | undefined} */
  #told;
  /** Whether the gateway accepts differences. */
  differences = false;

  /** @param {Capabilities} capabilities */
  constructor(capabilities) {
    this.#capabilities = capabilities;
  }

  /** All capabilities, for the gateway, which knows them from now on. */
  all() {
    this.#told = new Map(this.#capabilities.documents().map((document) => [document.name, document]));
    return this.#entries([...this.#told.values()]);
  }

  /** The changes to tell the gateway of; undefined if there are none. */
  update() {
    const before = this.#told;
    if (!before) return { capabilities: this.all() };
    const now = this.#capabilities.documents();
    const added = now.filter((document) => document !== before.get(document.name));
    const left = new Map(now.map((document) => [document.name, document]));
    const removed = [...before].filter(([name, document]) => document !== left.get(name)).map(([name]) => name);
    if (added.length + removed.length === 0) return undefined;
    if (!this.differences) return { capabilities: this.all() };
    this.#told = left;
    return { ...(removed.length && { removed }), ...(added.length && { added: this.#entries(added) }) };
  }

  /** The gateway has refused an update, so its state differs from what it was told. */
  refused() {
    this.#told = undefined;
  }

  /** @param {any[]} documents */
  #entries(documents) {
    return documents.map((document) => this.#capabilities.entry(document));
  }
}
