import { before, test } from 'node:test';
import { WebSocket } from 'ws';
import { useCluster } from '../support/cluster.mjs';
import { endsTold, runVector, vectorsInSession, vectorsWithout } from '../support/conformance.mjs';
import { INITIALIZE, wireDriver } from '../support/wire-driver.mjs';

const cluster = useCluster();

before(async () => {
  await cluster.begun;
  const { server, browser } = cluster.lab;
  const page = await browser.newPage();
  await page.goto(`${server.url('/host/')}?gateway=${cluster.worker(1).wsUrl}/abp/app`);
  const first = await cluster.agent(2, 'test-host');
  await first.shutdown();
});

for (const vector of vectorsInSession()) {
  test(`connectWebSocket on another worker than the page: ${vector.name}`, { timeout: 30_000 }, async () => {
    const { hear, ended } = endsTold();
    const agent = await cluster.agent(2, 'test-host', { onNotification: hear });
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
  test(`a plain agent on another worker than the page: ${vector.name}`, { timeout: 30_000 }, async () => {
    const socket = new WebSocket(`${cluster.worker(2).wsUrl}/abp?app=test-host`);
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
