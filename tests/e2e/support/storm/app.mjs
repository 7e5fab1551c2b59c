import { createHost } from 'caphost';
import { WebSocket } from 'ws';

/**
 * An app in Node whose work takes a while, and its own record of what happened to each call. Every
 * callId is used only once.
 *
 * @param {{ wsUrl: string }} at
 */
export async function startStormApp(at) {
  const host = await createHost({ app: { id: 'storm', name: 'Storm', version: '1' }, maxRemembered: 100_000 });
  /** The calls that were reported as cancelled to somebody. @type {Set<string>} */
  const confirmed = new Set();
  /** The last state of each call. @type {Map<string, string>} */
  const states = new Map();
  /** Calls that began or continued when they must not. @type {string[]} */
  const wrong = [];

  /** @param {{ ms: number }} params @param {{ callId: string, signal: AbortSignal }} context */
  const work = async ({ ms }, { callId, signal }) => {
    const until = performance.now() + ms;
    while (performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      // Half of the calls obey their signal. The others are stopped nevertheless.
      if (ms % 2) signal.throwIfAborted();
      if (confirmed.has(callId) && !signal.aborted) wrong.push(`${callId} goes on after its confirmed cancel`);
    }
    return { callId };
  };
  host.register('storm.work', {}, work);
  host.register('storm.single', { concurrency: 4 }, work);
  host.observe((event) => {
    if (event.type !== 'call') return;
    if (event.state === 'queued' && states.has(event.callId)) wrong.push(`${event.callId} came twice`);
    if (event.state === 'running' && confirmed.has(event.callId)) wrong.push(`${event.callId} began after its confirmed cancel`);
    states.set(event.callId, event.state);
  });
  host.connectGateway(`${at.wsUrl}/abp/app`, { WebSocket });
  return {
    states,
    wrong,
    /** Records that this call was reported as cancelled. @param {string} callId */
    confirm(callId) {
      const state = states.get(callId);
      if (state === 'running' || state === 'completed' || state === 'failed') wrong.push(`${callId} is ${state}, and its cancel was confirmed`);
      confirmed.add(callId);
    },
    stats: () => host.stats(),
    close: () => host.close(),
  };
}
