/**
 * An agent inside the page itself: requests on a connection of its own, and promises of their answers.
 */
import { accept } from './accept.js';
import { completed } from './short.js';

export class Requests {
  /** @type {Map<unknown, (payload: any) => void>} */
  #waiting = new Map();
  #next = 0;

  /**
   * @param {import('./shell.js').Shell} shell
   * @param {(envelope: import('./messenger.js').Envelope) => void} unasked gets the messages that are not answers
   */
  constructor(shell, unasked) {
    this.connection = accept(shell, {
      abp: true,
      lasting: true,
      local: true,
      short: true,
      onmessage: undefined,
      onclose: undefined,
      post: (envelope) => this.#settle(envelope.id, envelope.payload) || unasked(envelope),
      postResult: (id, data, duration) => void this.#settle(id, completed(data, duration)),
      close() {},
    }).connect();
  }

  /** @param {unknown} id @param {unknown} payload @returns {boolean} whether the answer was waited for */
  #settle(id, payload) {
    const resolve = this.#waiting.get(id);
    this.#waiting.delete(id);
    resolve?.(payload);
    return resolve !== undefined;
  }

  /**
   * @param {string} type
   * @param {unknown} payload
   * @param {() => void} [answered] called when the answer has arrived
   * @param {import('./signal.js').Aborted} [aborted] of a call
   * @returns {Promise<any>} the payload of the answer
   */
  request(type, payload, answered, aborted) {
    return new Promise((resolve) => {
      const id = (this.#next += 1);
      const settle = (/** @type {any} */ answer) => {
        answered?.();
        resolve(answer);
      };
      this.#waiting.set(id, answered ? settle : resolve);
      this.connection.receive({ type, id, payload }, aborted);
    });
  }
}
