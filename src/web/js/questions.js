/**
 * The app's questions, until they are answered or withdrawn.
 */
import { failure, text } from './errors.js';
import { getA } from './read.js';
import { carry } from './transfer.js';

export class Questions {
  /** @type {Map<unknown, AbortController>} */
  #open = new Map();

  /**
   * @param {import('./messenger.js').Messenger} messenger
   * @param {((request: any, context: { signal: AbortSignal }) => any) | undefined} answer
   */
  constructor(messenger, answer) {
    this.messenger = messenger;
    this.answer = answer;
  }

  /**
   * @param {any} id
   * @param {any} request
   */
  async ask(id, request) {
    const controller = new AbortController();
    this.#open.set(id, controller);
    const payload = await this.#answerTo(request, controller.signal);
    // The question was withdrawn meanwhile, or the session is over.
    if (!this.#open.delete(id)) return;
    const envelope = { type: 'elicitation/response', id, timestamp: Date.now(), payload };
    try {
      carry(envelope, (message, moved) => this.messenger.post(message, moved));
    } catch (error) {
      this.messenger.post({ ...envelope, payload: failure('OPERATION_FAILED', `The answer cannot be sent: ${error}`) });
    }
  }

  /**
   * @param {any} request
   * @param {AbortSignal} signal fires when the answer is no longer wanted
   * @returns {Promise<any>} an ABPResponse
   */
  async #answerTo(request, signal) {
    if (!this.answer) return failure('NOT_SUPPORTED', 'The agent answers no questions');
    try {
      const answer = await this.answer(request, { signal });
      return typeof answer?.success === 'boolean' ? answer : { success: true, data: answer };
    } catch (error) {
      return failure(getA('string', error, 'code') ?? 'OPERATION_FAILED', text(error));
    }
  }

  /** @param {unknown} id */
  withdraw(id) {
    this.#open.get(id)?.abort();
    this.#open.delete(id);
  }

  close() {
    for (const id of [...this.#open.keys()]) this.withdraw(id);
  }
}
