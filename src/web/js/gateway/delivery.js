/**
 * Tracks which messages the other side has received. Both sides count the messages they receive, and
 * keep the messages they have sent until the other side acknowledges them. On a new connection, each
 * side sends the missing messages again. Works like XMPP's stream management (XEP-0198).
 */

/** The number of messages after which an acknowledgement is due. */
const MESSAGES = 64;
/** The number of characters after which an acknowledgement is due. */
const CHARACTERS = 1 << 20;

export class Delivery {
  /** The messages that were sent and not acknowledged, in order. @type {string[]} */
  kept = [];
  /** The number of messages that have arrived. */
  received = 0;
  #most;
  #size = 0;
  #acknowledged = 0;
  #told = 0;
  #untold = 0;

  /** @param {number} most characters that are kept, or one message */
  constructor(most) {
    this.#most = most;
  }

  /**
   * Keeps a message.
   *
   * @param {string} text
   * @returns {boolean} whether there was room for it
   */
  keep(text) {
    if (this.#size > 0 && this.#size + text.length > this.#most) return false;
    this.#size += text.length;
    this.kept.push(text);
    return true;
  }

  /**
   * @param {unknown} received the number of messages that the other side has acknowledged
   * @returns {boolean} whether that is possible
   */
  acknowledge(received) {
    const more = Number(received) - this.#acknowledged;
    if (!Number.isInteger(more) || more < 0 || more > this.kept.length) return false;
    for (const text of this.kept.splice(0, more)) this.#size -= text.length;
    this.#acknowledged += more;
    return true;
  }

  /**
   * A message has arrived.
   *
   * @param {number} size in characters
   * @returns {boolean} whether to acknowledge now, rather than a little later
   */
  note(size) {
    this.received += 1;
    this.#untold += size;
    return this.received - this.#told >= MESSAGES || this.#untold >= CHARACTERS;
  }

  /** The number of messages that have arrived, for the acknowledgement. */
  tell() {
    this.#untold = 0;
    return (this.#told = this.received);
  }
}
