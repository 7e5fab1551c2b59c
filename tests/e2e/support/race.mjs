/**
 * Calls raced against their cancels at random moments, through anything with `call` and `cancel`.
 * Runs in a page as well as in Node, so it refers to nothing outside itself.
 *
 * @typedef {{ calls: number, cancelled: number, completed: number, other: any[], contradictions: any[] }} Tally
 *
 * @param {{ call: (...args: any[]) => Promise<any>, cancel: (...args: any[]) => Promise<any> }} agent
 * @param {{ calls: number, width: number, seed: number, prefix: string }} options
 * @returns {Promise<Tally>}
 */
export async function race(agent, { calls, width, seed, prefix }) {
  let state = seed >>> 0;
  /** @param {number} bound */
  const random = (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  /** @type {Tally} */
  const tally = { calls: 0, cancelled: 0, completed: 0, other: [], contradictions: [] };
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
      const name = random(4) === 0 ? 'race.single' : 'race.work';
      const timeout = random(8) === 0 ? random(4) : undefined;
      const call = agent.call(name, { turns: random(6) }, {
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
      if (response.cancelled === true && response.success === false) tally.cancelled += 1;
      else if (response.success === true) tally.completed += 1;
      else tally.other.push({ callId, response });
      for (const confirmation of confirmations) {
        const agrees = confirmation.cancelled === (response.cancelled === true);
        if (!agrees) tally.contradictions.push({ callId, confirmation, response });
      }
      const late = await agent.cancel(callId);
      if (late.cancelled !== (response.cancelled === true)) tally.contradictions.push({ callId, late, response });
    }
  };
  await Promise.all(Array.from({ length: width }, runner));
  channel.port1.close();
  return tally;
}
