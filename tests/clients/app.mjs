/** An app in Node behind a gateway, with capabilities to try clients on. */
import { createHost } from 'caphost';
import { startGateway } from '../e2e/support/gateway.mjs';

export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Starts a gateway, and connects a host to it. @param {any} host @param {string[]} [args] further arguments of `serve` */
export async function serve(host, args) {
  const gateway = await startGateway({ args });
  host.connectGateway(`${gateway.wsUrl}/abp/app`);
  while ((await fetch(`${gateway.url}/abp.json`)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 20));
  return {
    gateway,
    host,
    async stop() {
      host.close();
      await gateway.stop();
    },
  };
}

/** Starts the gateway, and connects the app to it. */
export async function startApp() {
  const host = await createHost({ app: { id: 'tried', name: 'Tried', version: '1.0.0' } });
  /** @type {{ reason: string, at: number }[]} */
  const cancels = [];
  const either = {
    type: 'object',
    properties: { list: { type: 'array' } },
    anyOf: [{ required: ['list'] }, { required: ['text'], properties: { text: { type: 'string' } } }],
  };
  host.register('sums.of', { description: 'Counts', inputSchema: either, outputSchema: { type: 'object', properties: { count: { type: 'number' } } } },
    async ({ list = [], text = '' }) => ({ count: list.length + text.length }));
  host.register('画像', { description: 'A picture' }, async () => ({ image: PIXEL, mimeType: 'image/png' }));
  host.register('large', {}, async ({ megabytes = 1, of = 'x\u2028', after = 0, tells = false }, { progress }) => {
    if (tells) progress({ progress: 1 });
    await new Promise((resolve) => setTimeout(resolve, after));
    return { text: of.repeat(megabytes * 250_000) };
  });
  host.register('nothing', {}, async () => ' ');
  host.register('work', {}, async ({ quiet = false }, { signal, progress }) => {
    signal.addEventListener('abort', () => cancels.push({ reason: signal.reason.message, at: Date.now() }));
    for (let done = 0; done < 10_000; done += 1) {
      if (!quiet) progress({ progress: done, total: 10_000, status: `${done} done` });
      await new Promise((resolve) => setTimeout(resolve, 20));
      signal.throwIfAborted();
    }
  });
  return {
    ...await serve(host),
    /** The reason and the time of each cancel. */
    cancels,
  };
}
