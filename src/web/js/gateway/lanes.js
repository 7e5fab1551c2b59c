import { Queue } from './queue.js';

/** @typedef {{ agent: string, texts: Queue<string>, credit: number }} Lane */

/** What an agent may send in each round, in characters. Whoever has a longer message waits for as many rounds as it takes. */
const QUANTUM = 4 << 10;

/**
 * The messages that wait for a socket that is behind. The agents take turns, so that nobody waits behind
 * everything that is sent to another agent. The messages to one agent keep their order.
 */
export class Lanes {
  /** By agent. None is empty. @type {Map<string, Lane>} */
  #lanes = new Map();
  /** The same in the order of their turns. @type {Queue<Lane>} */
  #turns = new Queue();

  get isEmpty() {
    return this.#lanes.size === 0;
  }

  /** @param {string} agent @param {string} text */
  add(agent, text) {
    let lane = this.#lanes.get(agent);
    if (!lane) {
      lane = { agent, texts: new Queue(), credit: QUANTUM };
      this.#lanes.set(agent, lane);
      this.#turns.push(lane);
    }
    lane.texts.push(text);
  }

  /** Takes out the next message. @returns {string | undefined} */
  next() {
    for (let lane; (lane = this.#turns.first); ) {
      const length = lane.texts.first?.length ?? 0;
      if (length <= lane.credit || this.#lanes.size === 1) {
        lane.credit = Math.max(0, lane.credit - length);
        const text = lane.texts.shift();
        if (lane.texts.first === undefined) {
          this.#lanes.delete(lane.agent);
          this.#turns.shift();
        }
        return text;
      }
      lane.credit += QUANTUM;
      this.#turns.shift();
      this.#turns.push(lane);
    }
    return undefined;
  }

  clear() {
    this.#lanes.clear();
    this.#turns = new Queue();
  }
}
