import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { runVector, vectorsWithout } from '../support/conformance.mjs';
import { startGateway } from '../support/gateway.mjs';
import { INITIALIZE, wireDriver } from '../support/wire-driver.mjs';
import { serveVectorTools } from './vector-tools.mjs';

/**
 * The vectors that RAP cannot express. An error of a tool has no code, not even for a tool that stops
 * by itself, and each tool checks its own parameters. The order of a cancel and of a result that is
 * about to be sent is undefined; another vector checks that both agree.
 */
const beyondRap = [
  'Parameters are checked against the schema before the handler runs',
  "A handler's error keeps its code, any other becomes OPERATION_FAILED",
  "A handler's own AbortError is an ordinary error",
  'Call completes while cancel in flight',
  'A handler that was never told and ends within its grace has completed',
];

/** Adapts a step to RAP: a tool server gets a cancel without its reason, and does not report its outcome. @param {any} step */
function inRap(step) {
  const { with: pattern } = step;
  if (pattern?.metadata?.stop) {
    // The outcome for a waiting call depends on whether the server already knew of the call.
    const stop = pattern.metadata.stop === 'never-started' ? { $any: true } : 'abandoned';
    return { ...step, with: { ...pattern, metadata: { stop } } };
  }
  if (step.call !== 'test.report') return step;
  const { reason: _, ...data } = pattern.data;
  return { ...step, with: { ...pattern, data } };
}

const toolName = (/** @type {string} */ capability) => capability.replace('.', '_');

describe('a call of a RAP tool follows the rules of all calls', () => {
  /** @type {Awaited<ReturnType<typeof serveVectorTools>>} */
  let tools;
  /** @type {Awaited<ReturnType<typeof startGateway>>} */
  let gateway;
  before(async () => {
    tools = await serveVectorTools();
    gateway = await startGateway({ args: ['--tool-server', tools.url] });
    const found = async () => {
      const { app } = await (await fetch(`${gateway.url}/abp.json?app=vectors`)).json().catch(() => ({}));
      return app?.id === 'vectors';
    };
    while (!(await found())) await pause(20);
  });
  after(async () => {
    await gateway?.stop();
    tools?.close();
  });

  for (const { steps, ...vector } of vectorsWithout('signals', 'notifications', 'children').filter(({ name }) => !beyondRap.includes(name))) {
    test(vector.name, { timeout: 30_000 }, async () => {
      const socket = new WebSocket(`${gateway.wsUrl}/abp?app=vectors`);
      await new Promise((resolve, reject) => {
        socket.once('open', resolve);
        socket.once('error', reject);
      });
      try {
        const driver = wireDriver((envelope) => socket.send(JSON.stringify(envelope)));
        socket.on('message', (data) => driver.receive(JSON.parse(String(data))));
        if (vector.session !== false) await driver.request('initialize', INITIALIZE);
        const run = `${vector.name} `.slice(0, 60);
        // The agent does not wait until the tool server has received a cancel. A later request about
        // the call does.
        /** @type {import('../support/conformance.mjs').Driver} */
        const telling = {
          ...driver,
          async call(name, params, options) {
            const response = await driver.call(toolName(name), params, options);
            if (response.cancelled && options?.callId) await tools.told(options.callId);
            return response;
          },
          async cancel(callId, reason) {
            const confirmation = await driver.cancel(callId, reason);
            if (confirmation.cancelled) await tools.told(callId);
            return confirmation;
          },
        };
        await runVector({ ...vector, steps: steps.map(inRap) }, telling, run);
        await driver.shutdown();
        assert.deepEqual(await tools.leftOver(run), []);
      } finally {
        socket.close();
      }
    });
  }
});
