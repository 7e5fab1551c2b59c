/**
 * Which messages the other side has. Both sides count what they receive and keep what they have
 * sent until the other side says that it has it; with a new connection each sends again what the
 * other lacks. In the manner of XMPP's stream management (XEP-0198).
 */

/** Messages after which an acknowledgement is due. */
const MESSAGES = 64;
/** Characters after which one is due. */
const CHARACTERS = 1 << 20;

export class Delivery {
  /** What was sent and is not known to have arrived, in order. @type {string[]} */
  kept = [];
  /** How many messages have arrived. */
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
   * @param {unknown} received how many of all messages the other side says it has
   * @returns {boolean} whether that can be
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
   * @returns {boolean} whether the other side is to be told now, rather than a little later
   */
  note(size) {
    this.received += 1;
    this.#untold += size;
    return this.received - this.#told >= MESSAGES || this.#untold >= CHARACTERS;
  }

  /** How many messages have arrived, to tell the other side. */
  tell() {
    this.#untold = 0;
    return (this.#told = this.received);
  }
}
