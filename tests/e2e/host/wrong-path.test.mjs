/** An app that connects at the path of agents, and an agent that connects at the path of apps. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createHost } from 'caphost';
import { connectWebSocket } from 'caphost/agent';
import { inLab } from '../support/lab.mjs';
import { useLabWithGateway } from '../support/lab-gateway.mjs';

const lab = useLabWithGateway();

const APP = 'Agents connect here, at /abp: an app connects to /abp/app';
const AGENT = { code: 'NOT_IMPLEMENTED', message: 'Apps connect here, at /abp/app: an agent connects to /abp', retryable: false };

const path = (/** @type {string} */ it) => `${lab.gateway.wsUrl}${it}`;

test('an app of Node at the path of agents is refused once, with the right path, and works there afterwards', { timeout: 30_000 }, async (t) => {
  /** @type {string[]} */
  const written = [];
  t.mock.method(console, 'warn', (/** @type {any[]} */ ...said) => written.push(said.join(' ')));
  const host = await createHost({ app: { id: 'lost', name: 'Lost', version: '1.0.0' } });
  after(() => host.close());
  /** @type {any[]} */
  const seen = [];
  /** @type {() => void} */
  let connected = () => {};
  const isConnected = new Promise((resolve) => (connected = () => resolve(undefined)));
  host.observe((/** @type {any} */ event) => {
    if (event.type !== 'gateway') return;
    seen.push(event);
    if (event.state === 'connected') connected();
  });
  host.connectGateway(path('/abp'));
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert.deepEqual(seen.map(({ state }) => state), ['connecting', 'refused', 'disconnected']);
  const { code, message, retryable } = seen[1].error;
  assert.deepEqual([code, message, retryable], ['NOT_IMPLEMENTED', APP, false]);
  assert.deepEqual(written, [`caphost: ${path('/abp')} refuses this app: ${APP}`]);
  host.connectGateway(path('/abp/app'));
  await isConnected;
});

test('an app in a browser gets the same message in its console and its events', { timeout: 30_000 }, async () => {
  const page = await lab.page();
  try {
    /** @type {string[]} */
    const written = [];
    page.on('console', (/** @type {any} */ message) => message.text().startsWith('caphost:') && written.push(message.text()));
    const refused = await inLab(page, async ({ newHost }, url) => {
      const host = await newHost();
      const event = new Promise((resolve) => host.observe((/** @type {any} */ it) => it.type === 'gateway' && it.state === 'refused' && resolve(it)));
      host.connectGateway(url);
      const { error } = await event;
      host.close();
      return error.message;
    }, path('/abp'));
    assert.equal(refused, APP);
    await page.evaluate('0');
    assert.deepEqual(written, [`caphost: ${path('/abp')} refuses this app: ${APP}`]);
  } finally {
    await page.close();
  }
});

test('an agent at the path of apps learns the right path, in Node and in a browser', { timeout: 30_000 }, async () => {
  await assert.rejects(connectWebSocket(path('/abp/app')), AGENT);
  const told = await lab.run(async (_lab, url) => {
    const { connectWebSocket } = await import(/** @type {any} */ ('/caphost/agent.js'));
    const { code, message, retryable } = await connectWebSocket(url).catch((/** @type {any} */ error) => error);
    return { code, message, retryable };
  }, path('/abp/app'));
  assert.deepEqual(told, AGENT);
});
