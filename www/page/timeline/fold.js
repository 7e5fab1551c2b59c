import { element } from '../dom.js';

/** A disclosure. Its content is made when it is first opened, and again after a change. */
export class Fold {
  element;
  #body;
  #make;
  #version = '';
  /** Releases the resources of the content. @type {(() => void) | undefined} */
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

  /** @param {string} version the content is made again when this value changes */
  update(version) {
    this.#wanted = version;
    void this.#fill(version);
  }

  open() {
    this.element.open = true;
    void this.#fill(this.#wanted);
  }

  /** Releases the resources of the content. */
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
