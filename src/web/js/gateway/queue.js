/**
 * @template T
 * @typedef {{ item: T, next?: Link<T> }} Link
 */

/**
 * First in, first out. Each step takes the same time however long the queue is: an array moves everything
 * when its first item is taken out.
 *
 * @template T
 */
export class Queue {
  /** @type {Link<T> | undefined} */
  #first;
  /** @type {Link<T> | undefined} */
  #last;

  get first() {
    return this.#first?.item;
  }

  /** @param {T} item */
  push(item) {
    /** @type {Link<T>} */
    const link = { item };
    if (this.#first && this.#last) this.#last.next = link;
    else this.#first = link;
    this.#last = link;
  }

  /** Takes out the first item. */
  shift() {
    const link = this.#first;
    this.#first = link?.next;
    return link?.item;
  }
}
