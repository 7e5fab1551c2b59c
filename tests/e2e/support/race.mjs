/**
 * Races calls against their cancels at random moments, through anything with `call` and `cancel`. The
 * function runs in a page and in Node, so it refers to nothing outside itself.
 *
 * @typedef {object} Tally
 * @property {number} calls
 * @property {[string, string][]} heard what the agent learned about each call: `completed`, or how far it was seen to stop
 * @property {any[]} other responses of calls with another end
 * @property {any[]} contradictions
 *
 * @param {{ call: (...args: any[]) => Promise<any>, cancel: (...args: any[]) => Promise<any> }} agent
 * @param {{ calls: number, width: number, seed: number, prefix: string, longest?: number }} options `longest`: the most turns that a handler takes
 * @returns {Promise<Tally>}
 */
export async function race(agent, { calls, width, seed, prefix, longest = 6 }) {
  let state = seed >>> 0;
  /** @param {number} bound */
  const random = (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  /** @type {Tally} */
  const tally = { calls: 0, heard: [], other: [], contradictions: [] };
  const channel = new MessageChannel();
  /** @type {(() => void)[]} */
  const turns = [];
  channel.port1.onmessage = () => turns.shift()?.();
  const turn = () =>
    new Promise((/** @type {(value: void) => void} */ resolve) => {
      turns.push(resolve);
      channel.port2.postMessage(0);
    });
  let next = 0;
  const runner = async () => {
    while (next < calls) {
      const callId = `${prefix}${(next += 1)}`;
      const controller = new AbortController();
      const bySignal = random(3) === 0;
      const name = ['race.single', 'race.hasty', 'race.work', 'race.work'][random(4)];
      const timeout = random(8) === 0 ? random(4) : undefined;
      const call = agent.call(name, { turns: random(longest) }, {
        callId,
        ...(timeout === undefined ? {} : { timeout }),
        ...(bySignal ? { signal: controller.signal } : {}),
      });
      for (let wait = random(5); wait > 0; wait -= 1) await (random(2) ? turn() : undefined);
      let confirmations = [];
      if (bySignal) controller.abort();
      else if (random(8) > 0) {
        confirmations = await Promise.all(
          Array.from({ length: 1 + random(2) }, () => agent.cancel(callId, 'raced')),
        );
      }
      const response = await call;
      tally.calls += 1;
      const stop = response.cancelled === true && response.success === false ? String(response.metadata?.stop) : undefined;
      if (stop ?? response.success) tally.heard.push([callId, stop ?? 'completed']);
      else tally.other.push({ callId, response });
      const late = await agent.cancel(callId);
      for (const confirmation of [...confirmations, late]) {
        const agrees = confirmation.cancelled === (stop !== undefined) && confirmation.metadata?.stop === stop;
        if (!agrees) tally.contradictions.push({ callId, confirmation, response });
      }
    }
  };
  await Promise.all(Array.from({ length: width }, runner));
  await agent.call('race.quiet', {}, { callId: `${prefix}quiet` });
  for (const [callId, heard] of tally.heard.filter(([, it]) => it === 'abandoned')) {
    const { metadata } = await agent.cancel(callId);
    if (typeof metadata?.ended?.after !== 'number') tally.contradictions.push({ callId, heard, metadata });
  }
  channel.port1.close();
  return tally;
}
