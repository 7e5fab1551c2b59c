/** @import { Call, CallHistory } from './call-history.js' */
/** @import { OwnCalls } from './own-calls.js' */
/** @import { Capability } from './types/protocol.js' */
import { isFinal } from './call-history.js';
import { CapabilityForm } from './forms/capability-form.js';
import { WORKBENCH } from './forms/workbench.js';

/** The forms of all capabilities, kept up to date with the host's capabilities. */
export class Capabilities {
  /** @type {Map<string, CapabilityForm>} */
  #forms = new Map();
  #place;
  #ownCalls;
  #reveal;

  /**
   * @param {HTMLElement} place
   * @param {OwnCalls} ownCalls
   * @param {(call: Call) => void} reveal
   */
  constructor(place, ownCalls, reveal) {
    this.#place = place;
    this.#ownCalls = ownCalls;
    this.#reveal = reveal;
  }

  /** @param {Capability[]} capabilities */
  show(capabilities) {
    const first = this.#forms.size === 0;
    const forms = new Map();
    for (const capability of inOrder(capabilities)) {
      const existing = this.#forms.get(capability.name);
      const kept = existing?.source === JSON.stringify(capability) ? existing : undefined;
      forms.set(capability.name, kept ?? new CapabilityForm(capability, this.#ownCalls, this.#reveal));
    }
    for (const [name, form] of this.#forms) if (forms.get(name) !== form) form.element.remove();
    this.#forms = forms;
    const elements = [...forms.values()].map((form) => form.element);
    // Moving an element would lose its focus and close its menu, so only elements in the wrong
    // place are inserted.
    for (const [index, element] of elements.entries()) {
      if (this.#place.children[index] !== element) this.#place.insertBefore(element, this.#place.children[index] ?? null);
    }
    if (first && elements[0]) elements[0].open = true;
  }

  /**
   * @param {Call} call
   */
  change(call) {
    if (call.sessionId === this.#ownCalls.sessionId) this.#forms.get(call.capability)?.show(call);
  }

  /** @param {CallHistory} history */
  draw(history) {
    /** @type {Map<string, number>} */
    const active = new Map();
    for (const call of history.calls.values()) {
      if (!isFinal(call.state)) active.set(call.capability, (active.get(call.capability) ?? 0) + 1);
    }
    for (const [name, form] of this.#forms) form.setActive(active.get(name) ?? 0);
  }

  /** Cancels the latest call of the form that has the focus. */
  cancelFocused() {
    const focused = document.activeElement;
    for (const form of this.#forms.values()) if (form.element.contains(focused)) return form.cancelLatest();
    return false;
  }
}

/**
 * Sorts the capabilities that the page knows first, from quick to slow. The others keep their
 * order.
 * @param {Capability[]} capabilities
 */
function inOrder(capabilities) {
  const known = Object.keys(WORKBENCH);
  /** @param {Capability} capability */
  const place = ({ name }) => (known.includes(name) ? known.indexOf(name) : known.length);
  return capabilities.toSorted((a, b) => place(a) - place(b));
}
