/**
 * An agent's requests for the list of an app's capabilities.
 */
import { abpError } from './errors.js';

/** @import { Messenger } from './messenger.js' */

/** The types of the agent's messages. A host answers with `…-result`. */
export const LIST = 'capabilities/list';

/** The default members of a capability. */
const UNSAID = { description: '', inputSchema: { type: 'object' }, outputSchema: {}, available: true, requirements: [], features: {} };

export class Listing {
  /** @type {Map<string, { resolve: (list: any) => void, reject: (error: Error) => void }>} */
  #waiting = new Map();
  #asked = 0;
  #closed = false;
  #messenger;
  #grace;

  /**
   * @param {Messenger} messenger
   * @param {number} grace milliseconds the app has to answer
   */
  constructor(messenger, grace) {
    this.#messenger = messenger;
    this.#grace = grace;
  }

  /**
   * @param {any[]} known the session's summary of each capability
   * @returns {Promise<any[]>} the Capability objects of the app
   */
  async ask(known) {
    if (this.#closed) throw GONE();
    const list = await this.#request();
    if (!Array.isArray(list) || !list.every((it) => typeof it?.name === 'string')) throw abpError('TRANSPORT_ERROR', NO_LIST);
    return list.map((it) => ({ ...UNSAID, ...known.find(({ name }) => name === it.name), ...it }));
  }

  /** @returns {Promise<any>} */
  #request() {
    this.#asked += 1;
    // The id is not a number: numbers are the keys of calls and cancels.
    const id = `list-${this.#asked}`;
    return new Promise((resolve, reject) => {
      const late = () => this.#settle(id, ({ reject }) => reject(abpError('TIMEOUT', `The app has not listed its capabilities within ${this.#grace} ms`)));
      const timer = this.#grace < 0x7fffffff ? setTimeout(late, this.#grace) : undefined;
      const end = (/** @type {(value: any) => void} */ settle) => (/** @type {any} */ value) => {
        clearTimeout(timer);
        settle(value);
      };
      this.#waiting.set(id, { resolve: end(resolve), reject: end(reject) });
      this.#messenger.post({ type: LIST, id, timestamp: Date.now(), payload: {} });
    });
  }

  /** @param {string} id @param {(waiting: { resolve: (list: any) => void, reject: (error: Error) => void }) => void} how */
  #settle(id, how) {
    const waiting = this.#waiting.get(id);
    if (this.#waiting.delete(id) && waiting) how(waiting);
  }

  /** @param {any} envelope that may be an answer */
  take(envelope) {
    const { id, type, payload } = envelope ?? {};
    if (!this.#waiting.has(id)) return;
    const { code } = payload?.error ?? {};
    this.#settle(id, ({ resolve, reject }) => {
      if (type === `${LIST}-result` && code === undefined) resolve(payload?.capabilities);
      else if (typeof code === 'string') reject(Object.assign(abpError(code, String(payload.error.message)), payload.error));
      else reject(abpError('TRANSPORT_ERROR', NO_LIST));
    });
  }

  /** The session is over. */
  close() {
    this.#closed = true;
    for (const id of [...this.#waiting.keys()]) this.#settle(id, ({ reject }) => reject(GONE()));
  }
}

const NO_LIST = 'The app has answered with something that is no list of capabilities';

const GONE = () => abpError('DISCONNECTED', 'The session is over');
