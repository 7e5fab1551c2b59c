import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inLab, useLab } from '../support/lab.mjs';

/** A page that may connect only to its own origin. */
const lab = useLab(async () => ({ headers: { 'content-security-policy': "connect-src 'self'" } }));

test('if a Content-Security-Policy forbids the gateway, agent and host learn this at once', async () => {
  const page = await lab.page();
  try {
    const seen = await inLab(page, async ({ newHost, agents, event, rejection }) => {
      const began = performance.now();
      const agent = await rejection(agents.connectWebSocket('ws://gateway.example/abp'));
      const host = await newHost();
      const states = ['disconnected', 'connecting'].map((state) =>
        event(host, (/** @type {any} */ it) => it.type === 'gateway' && it.state === state));
      host.connectGateway('ws://gateway.example/abp/app');
      const [lost] = await Promise.all(states);
      host.close();
      return { agent, lost: lost.state, quick: performance.now() - began < 5_000 };
    });
    const { message, ...agent } = seen.agent;
    assert.match(message, /^The connection to ws:\/\/gateway\.example\/abp failed\. Is the gateway running, does it allow http:.*connect-src/);
    assert.deepEqual({ ...seen, agent }, { agent: { code: 'DISCONNECTED', retryable: true }, lost: 'disconnected', quick: true });
  } finally {
    await page.close();
  }
});
