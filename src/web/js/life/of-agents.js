/**
 * How a host notices that an agent is gone, if the agent has announced how it gives signs of life. Rust
 * decides when an agent is asked, and when it is gone: `src/session/liveness.rs`. A worker that holds a
 * lock is not asked: it may compute for a long time, and the lock reports its end.
 */
import { LIFE_LOCK } from '../events.js';
import { holdLock, watchLock } from './signs.js';

/** @import { Connection } from '../connection.js' */
/** @import { Shell } from '../shell.js' */

export class LifeOfAgents {
  #shell;
  #held;

  /**
   * @param {Shell} shell whose `liveness` is how long an agent may be gone before that is noticed
   * @param {string} id a unique id
   */
  constructor(shell, id) {
    this.#shell = shell;
    // A page needs no lock, because it reports when the user leaves it. Also, some browsers do not keep
    // a page that holds a lock for a later return.
    this.#held = globalThis.document ? undefined : holdLock(id);
  }

  /**
   * @param {Connection} connection of an agent that has announced it
   * @param {any} life its announcement: the name of the lock it holds, and whether it is a worker
   */
  async watch(connection, { lock, worker }) {
    const { number } = connection;
    const { connections, liveness, rust } = this.#shell;
    const isOpen = () => connections.get(number) === connection;
    if (!isOpen()) return;
    rust.watchLife(this.#shell.number, number, liveness);
    const unasked = () => worker === true && rust.unwatchLife(this.#shell.number, number);
    connection.unwatch = watchLock(lock, () => connection.onlost?.(), unasked);
    const held = await this.#held;
    if (held && isOpen()) this.#shell.tell(number, LIFE_LOCK, { lock: held.name });
  }
}
