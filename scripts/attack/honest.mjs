import { setTimeout as sleep } from 'node:timers/promises';
import { createHost } from 'caphost';
import { connectWebSocket } from 'caphost/agent';

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
      const late = await connectWebSocket(`${wsUrl}/abp?app=shop`, { token: secrets.agent });
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
