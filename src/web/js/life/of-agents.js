/**
 * How a host checks that an agent is alive, if the agent has announced how it gives signs of life. The
 * host asks the agent while a request of the agent is in flight. A worker that holds a lock is not
 * asked: it may compute for a long time, and the lock reports its end.
 */
import { ANSWER, ASKED, LOCK, holdLock, watchLock } from './signs.js';

/** @import { Connection } from '../connection.js' */
/** @import { Shell } from '../shell.js' */

/**
 * @typedef {object} Watched
 * @property {boolean} heard something, since it was asked last
 * @property {number} asked when it was
 * @property {number} unanswered how many questions in a row have no answer; a question that may have been answered in time counts half
 */

export class LifeOfAgents {
  /** @type {Map<Connection, Watched>} */
  #watched = new Map();
  #shell;
  #half;
  #held;
  /** @type {any} */
  #looking;

  /**
   * @param {Shell} shell whose `liveness` is how long an agent may be gone before that is noticed
   * @param {string} id a unique id
   */
  constructor(shell, id) {
    this.#shell = shell;
    this.#half = shell.liveness / 2;
    // A page needs no lock, because it reports when the user leaves it. Also, some browsers do not keep
    // a page that holds a lock for a later return.
    this.#held = globalThis.document ? undefined : holdLock(id);
  }

  /**
   * @param {Connection} connection of an agent that has announced it
   * @param {any} life its announcement: the name of the lock it holds, and whether it is a worker
   */
  async watch(connection, { lock, worker }) {
    const { number, hear, close } = connection;
    const isOpen = () => this.#shell.connections.get(number) === connection;
    if (!isOpen()) return;
    const watched = { heard: true, asked: 0, unanswered: 0 };
    this.#watched.set(connection, watched);
    const unasked = () => worker === true && this.#watched.delete(connection);
    const stop = watchLock(lock, () => connection.onlost?.(), unasked);
    connection.hear = (message) => {
      watched.heard = true;
      if (message?.type !== ANSWER) hear.call(connection, message);
    };
    connection.close = (reason) => {
      stop();
      this.#watched.delete(connection);
      if (this.#watched.size === 0) this.#looking = clearInterval(this.#looking);
      close.call(connection, reason);
    };
    if (this.#half < Infinity) this.#looking ??= setInterval(this.#look, Math.min(this.#half, 0x7fffffff));
    // Node would wait for this timer.
    this.#looking?.unref?.();
    const held = await this.#held;
    if (held && isOpen()) this.#shell.tell(number, LOCK, { lock: held.name });
  }

  #look = () => {
    const now = performance.now();
    for (const [connection, watched] of this.#watched) {
      if (watched.heard || !connection.busy) watched.unanswered = 0;
      // A late timer may fire before an answer that has already arrived is read.
      else watched.unanswered += now - watched.asked > 1.5 * this.#half ? 1 : 2;
      if (watched.unanswered >= 2) {
        connection.onlost?.();
      } else if (connection.busy) {
        watched.heard = false;
        watched.asked = now;
        this.#shell.tell(connection.number, ASKED, undefined);
      }
    }
  };
}
