/** An app in Node with the two tools of the cancellation suite, behind a gateway. */
import { createHost } from 'caphost';
import { startGateway } from '../e2e/support/gateway.mjs';

const key = { type: 'string' };
const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Registers both tools.
 *
 * @param {import('caphost').Host} host
 */
export function registerTools(host) {
  /** @type {Map<string, number>} */
  const counted = new Map();
  host.register('conformance.count', {
    description: 'Counts steps',
    inputSchema: { type: 'object', properties: { key, steps: { type: 'integer' }, ms: { type: 'number' }, deaf: { type: 'boolean' } }, required: ['key', 'steps', 'ms'] },
  }, async (/** @type {{ key: string, steps: number, ms: number, deaf?: boolean }} */ { key: under, steps, ms, deaf }, { signal, progress }) => {
    for (let step = 1; step <= steps; step += 1) {
      await pause(ms);
      if (!deaf) signal.throwIfAborted();
      counted.set(under, step);
      progress({ progress: step, total: steps });
    }
    return { key: under, count: steps };
  });
  host.register('conformance.read', {
    description: 'Reads how many steps were counted',
    inputSchema: { type: 'object', properties: { key }, required: ['key'] },
  }, async (/** @type {{ key: string }} */ { key: under }) => ({ key: under, steps: counted.get(under) ?? 0 }));
}

/** Starts a gateway, and connects the app to it. */
export async function startApp() {
  // The app shares a processor with all other tests, and may confirm late.
  const gateway = await startGateway({ args: ['--max-requests-per-second', '100000', '--confirm-timeout', '60s'] });
  const host = await createHost({ app: { id: 'counting', name: 'Counting', version: '1.0.0' } });
  registerTools(host);
  host.connectGateway(`${gateway.wsUrl}/abp/app`);
  while ((await fetch(`${gateway.url}/abp.json`)).status !== 200) await pause(20);
  return {
    gateway,
    async stop() {
      host.close();
      await gateway.stop();
    },
  };
}
