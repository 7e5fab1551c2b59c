import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { runVector, vectors } from '../support/conformance.mjs';
import { startGateway } from '../support/gateway.mjs';
import { INITIALIZE, wireDriver } from '../support/wire-driver.mjs';
import { serveVectorTools } from './vector-tools.mjs';

/** What RAP has no words for: a tool's error has no code, and parameters are the tool's own affair. */
const beyondRap = [
  'Parameters are checked against the schema before the handler runs',
  "A handler's error keeps its code, any other becomes OPERATION_FAILED",
];

/** Nobody waits for a tool server to hear of a cancel, so what it knows of one cannot be asked for at once. */
const isReport = (/** @type {any} */ step) => step.call === 'test.report';

const toolName = (/** @type {string} */ capability) => capability.replace('.', '_');

describe('a call of a RAP tool keeps the rules of every call', () => {
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

  for (const { steps, ...vector } of vectors().filter(({ name }) => !beyondRap.includes(name))) {
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
        const named = { ...driver, call: (/** @type {string} */ name, /** @type {unknown} */ params, /** @type {any} */ options) => driver.call(toolName(name), params, options) };
        await runVector({ ...vector, steps: steps.filter((step) => !isReport(step)) }, named, `${vector.name} `.slice(0, 60));
      } finally {
        socket.close();
      }
    });
  }
});
