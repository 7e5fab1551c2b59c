import { after, before, test } from 'node:test';
import { WebSocket } from 'ws';
import { connectWebSocket } from 'caphost/agent';
import { launchPuppeteer } from '../support/browsers.mjs';
import { endsTold, runVector, vectorsInSession, vectorsWithout } from '../support/conformance.mjs';
import { startGateway } from '../support/gateway.mjs';
import { serveFiles } from '../support/static-server.mjs';
import { INITIALIZE, wireDriver } from '../support/wire-driver.mjs';

/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;
/** @type {Awaited<ReturnType<typeof startGateway>>} */
let gateway;
/** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
let browser;

before(async () => {
  server = await serveFiles();
  gateway = await startGateway({ args: ['--allow-origin', server.origin] });
  browser = await launchPuppeteer();
  const page = await browser.newPage();
  await page.goto(`${server.url('/host/')}?gateway=${gateway.wsUrl}/abp/app`);
  await page.waitForSelector('html[data-ready]');
  await appearance();
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
  await server?.close();
});

/** Waits until the app is registered with the gateway. */
async function appearance() {
  for (;;) {
    try {
      const agent = await connectWebSocket(`${gateway.wsUrl}/abp?app=test-host`, { agent: { name: 'first', version: '1' } });
      return await agent.shutdown();
    } catch (error) {
      if (/** @type {any} */ (error).code !== 'DISCONNECTED') throw error;
    }
  }
}

for (const vector of vectorsInSession()) {
  test(`connectWebSocket from Node: ${vector.name}`, { timeout: 30_000 }, async () => {
    const { hear, ended } = endsTold();
    const agent = await connectWebSocket(`${gateway.wsUrl}/abp`, { agent: { name: 'vectors', version: '1' }, onNotification: hear });
    try {
      await runVector(
        vector,
        {
          call: (capability, params, options) => agent.call(capability, /** @type {any} */ (params), options),
          cancel: (callId, reason) => agent.cancel(callId, reason),
          shutdown: () => agent.shutdown(),
          signals: true,
          ended,
        },
        `library ${vector.name} `.slice(0, 60),
      );
    } finally {
      await agent.shutdown();
    }
  });
}

for (const vector of vectorsWithout('signals')) {
  test(`a plain agent on a WebSocket: ${vector.name}`, { timeout: 30_000 }, async () => {
    const socket = new WebSocket(`${gateway.wsUrl}/abp?app=test-host`);
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    try {
      const driver = wireDriver((envelope) => socket.send(JSON.stringify(envelope)));
      socket.on('message', (data) => driver.receive(JSON.parse(String(data))));
      if (vector.session !== false) await driver.request('initialize', INITIALIZE);
      await runVector(vector, driver, `plain ${vector.name} `.slice(0, 60));
    } finally {
      socket.close();
    }
  });
}
