import { element } from '../dom.js';

/** A disclosure whose content is made when it is first open, and made anew when it has changed. */
export class Fold {
  element;
  #body;
  #make;
  #version = '';
  /** What to let go of when the content goes. @type {(() => void) | undefined} */
  #release;

  /**
   * @param {string} title after "Show" or "Hide"
   * @param {() => Promise<{ element: HTMLElement, release?: () => void }>} make
   */
  constructor(title, make) {
    this.#make = make;
    this.#body = element('div', { class: 'fold-body' });
    this.element = element('details', { class: 'fold' }, element('summary', {}, element('span', { class: 'show' }, 'Show '), element('span', { class: 'hide' }, 'Hide '), title), this.#body);
    this.element.addEventListener('toggle', () => void this.#fill(this.#wanted));
  }

  #wanted = '';

  /** @param {string} version the content is made anew when this differs from the last time */
  update(version) {
    this.#wanted = version;
    void this.#fill(version);
  }

  open() {
    this.element.open = true;
    void this.#fill(this.#wanted);
  }

  /** Lets go of what the content holds. */
  release() {
    this.#version = '';
    this.#release?.();
    this.#release = undefined;
  }

  /** @param {string} version */
  async #fill(version) {
    if (!this.element.open || this.#version === version) return;
    this.#version = version;
    const made = await this.#make();
    if (this.#version !== version) {
      made.release?.();
      return;
    }
    this.#release?.();
    this.#release = made.release;
    this.#body.replaceChildren(made.element);
  }
}
