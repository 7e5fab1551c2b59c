/** What an agent may send in each round, in characters. Whoever has a longer message waits for as many rounds as it takes. */
const QUANTUM = 4 << 10;

/**
 * The messages that wait for a socket that is behind. The agents take turns, so that nobody waits behind
 * everything that is sent to another agent. The messages to one agent keep their order.
 */
export class Lanes {
  /** In the order of their turns. @type {Map<string, { texts: string[], credit: number }>} */
  #lanes = new Map();

  get isEmpty() {
    return this.#lanes.size === 0;
  }

  /** @param {string} agent @param {string} text */
  add(agent, text) {
    const lane = this.#lanes.get(agent);
    if (lane) lane.texts.push(text);
    else this.#lanes.set(agent, { texts: [text], credit: QUANTUM });
  }

  /** Takes out the next message. @returns {string | undefined} */
  next() {
    // A lane that is taken out and put in again comes last, and is visited again.
    for (const [agent, lane] of this.#lanes) {
      const length = lane.texts[0]?.length ?? 0;
      if (length <= lane.credit || this.#lanes.size === 1) {
        lane.credit = Math.max(0, lane.credit - length);
        const text = lane.texts.shift();
        if (lane.texts.length === 0) this.#lanes.delete(agent);
        return text;
      }
      lane.credit += QUANTUM;
      this.#lanes.delete(agent);
      this.#lanes.set(agent, lane);
    }
    return undefined;
  }

  clear() {
    this.#lanes.clear();
  }
}
