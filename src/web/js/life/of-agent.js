/**
 * How an agent over a window, a port or a worker gives its host signs of life, and reads the signs of
 * life of a host that gives them.
 */
import { LIFE_ASKED, LIFE_LOCK } from '../events.js';
import { ANSWER, holdLock, watchLock } from './signs.js';

export class LifeOfAgent {
  #held;
  /** @type {(() => void)[]} */
  #stops = [];

  /** @param {Awaited<ReturnType<typeof holdLock>>} held */
  constructor(held) {
    this.#held = held;
    /** What the agent announces. A page may close its port and live on. For a worker, the lock reports its end. */
    this.announced = held ? { lock: held.name, worker: !globalThis.document } : {};
  }

  /** @param {string} id a unique id */
  static async begin(id) {
    return new LifeOfAgent(await holdLock(id));
  }

  /**
   * @param {string} event of the host
   * @param {any} data
   * @param {import('../messenger.js').Messenger} messenger
   */
  receive(event, data, messenger) {
    if (event === LIFE_ASKED) messenger.post({ type: ANSWER, timestamp: Date.now(), payload: {} });
    else if (event === LIFE_LOCK) this.#stops.push(watchLock(data?.lock, () => messenger.onclose?.()));
  }

  end() {
    this.#held?.release();
    for (const stop of this.#stops) stop();
  }
}
