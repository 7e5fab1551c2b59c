import { same } from '../sampling.mjs';
import { echo, hold, params, seen } from './handlers.mjs';

/** The browser's own tools, if it has them. */
export const hasTools = () => 'modelContext' in document;

/** @returns {Promise<{ call: (given: any) => Promise<any>, cancels: import('../sampling.mjs').Contender }>} */
export async function browserTools() {
  const { modelContext } = /** @type {any} */ (document);
  for (const [name, execute] of Object.entries({ echo, hold })) {
    await modelContext.registerTool({ name, description: name, inputSchema: { type: 'object' }, execute });
  }
  const tools = await modelContext.getTools();
  const tool = (/** @type {string} */ name) => tools.find((/** @type {any} */ it) => it.name === name);
  const [echoTool, holdTool] = [tool('echo'), tool('hold')];
  const call = async (/** @type {any} */ given) => JSON.parse(await modelContext.executeTool(echoTool, given));

  const start = () => {
    const controller = new AbortController();
    return { controller, answer: modelContext.executeTool(holdTool, {}, { signal: controller.signal }) };
  };
  /** Cancels a tool call. The caller's promise settles at once, before the handler hears of the cancel. @param {ReturnType<typeof start>} held */
  const stop = async ({ controller, answer }) => {
    const before = seen.stopped;
    controller.abort();
    await answer.then(() => Promise.reject(new Error('it was not cancelled')), () => {});
    while (seen.stopped === before) await new Promise((resolve) => turn(resolve));
  };
  return {
    call,
    cancels: {
      name: 'native WebMCP',
      most: 16,
      async measure(count) {
        const held = Array.from({ length: count }, start);
        await call(params);
        const from = performance.now();
        for (const it of held) await stop(it);
        return performance.now() - from;
      },
      async check() {
        const before = seen.stopped;
        const held = start();
        await call(params);
        await stop(held);
        same(seen.stopped - before, 1, 'handlers stopped');
      },
    },
  };
}

/** A channel for waiting one turn of the event loop, without the delay of timers. */
const channel = new MessageChannel();
const turn = (/** @type {(value?: any) => void} */ resolve) => {
  channel.port1.onmessage = resolve;
  channel.port2.postMessage(undefined);
};
