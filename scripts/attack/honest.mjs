import { setTimeout as sleep } from 'node:timers/promises';
import { createHost } from 'caphost';
import { connectWebSocket } from 'caphost/agent';

/** The characters of a large parameter, as the attackers send. */
const LARGE = 200_000;
/** Of how many bytes the gateway lets one app's queue grow before it refuses calls: half of `--max-queued-bytes`. */
const MOST_WAITING = 32 << 20;

/** @typedef {{ calls: number, failed: string[], p50: number, p99: number }} Measured times in milliseconds */

/**
 * An app and an agent that calls the app, each with a token of its own. As in a page, the calls of
 * the attackers and the calls of the agent share the app's thread.
 *
 * @param {string} wsUrl of the gateway
 * @param {{ app: string, agent: string }} secrets
 */
export async function honest(wsUrl, secrets) {
  const host = await createHost({ app: { id: 'shop', name: 'Shop', version: '1' } });
  const description = 'For the honest and for the others';
  host.register('echo', { description, inputSchema: { type: 'object' } }, async (params) => params);
  host.register('wait', { description, inputSchema: { type: 'object' } }, (_, { signal }) => new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  }));
  // A schema that takes some validators a long time.
  host.register('strict', {
    description,
    inputSchema: {
      type: 'object',
      properties: {
        url: { type: 'string', format: 'url' },
        items: { type: 'array', uniqueItems: true },
        wrong: { type: 'array', items: { type: 'number' } },
        careless: { type: 'string', pattern: '^(a+)+$' },
      },
    },
  }, async () => true);
  const joined = new Promise((/** @type {(value: void) => void} */ resolve, reject) => {
    host.observe((event) => {
      if (event.type !== 'gateway') return;
      if (event.state === 'connected') resolve();
      if (event.state === 'refused') reject(new Error(event.error?.message));
    });
  });
  host.connectGateway(`${wsUrl}/abp/app`, { token: secrets.app });
  await joined;
  const agent = await connectWebSocket(`${wsUrl}/abp?app=shop`, { token: secrets.agent });
  let next = 0;
  const largeEcho = await timeOfLargeEcho(agent);

  return {
    /**
     * Makes calls for `seconds`, one after the other with a short pause.
     *
     * @param {number} seconds
     * @returns {Promise<Measured>}
     */
    async measure(seconds) {
      /** @type {number[]} */
      const times = [];
      /** @type {string[]} */
      const failed = [];
      for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
        const began = performance.now();
        const response = await agent.call('echo', { began }, { callId: `honest ${next++}` });
        times.push(performance.now() - began);
        if (!response.success || response.data.began !== began) failed.push(JSON.stringify(response));
        await sleep(5);
      }
      times.sort((a, b) => a - b);
      const at = (/** @type {number} */ share) => times[Math.ceil(share * times.length) - 1] ?? NaN;
      return { calls: times.length, failed, p50: at(0.5), p99: at(0.99) };
    },
    /** Connects one more agent during the attack, has it cancel a call, and returns whether the cancel was confirmed. */
    async cancel() {
      // A machine that is slow or busy takes as long for each byte that may wait before the agent.
      const patience = 10_000 + largeEcho * (MOST_WAITING / LARGE);
      const late = await connectWebSocket(`${wsUrl}/abp?app=shop`, { token: secrets.agent, connectTimeout: patience, grace: patience });
      const callId = `cancelled ${next++}`;
      const started = late.call('wait', {}, { callId });
      const { cancelled } = await late.cancel(callId);
      const response = /** @type {any} */ (await started);
      await late.shutdown();
      return cancelled && response.cancelled === true;
    },
    async close() {
      await agent.shutdown();
      host.close();
    },
  };
}

/**
 * The milliseconds that a call with large parameters and the same result takes before the attack.
 *
 * @param {import('caphost/agent').Agent} agent
 */
async function timeOfLargeEcho(agent) {
  const text = 'x'.repeat(LARGE);
  // The first call compiles code.
  await agent.call('echo', { text });
  const began = performance.now();
  await agent.call('echo', { text });
  return performance.now() - began;
}
