import { connectWebSocket } from 'caphost/agent';
import { attach } from 'caphost/automation';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useLabWithGateway } from '../support/lab-gateway.mjs';
import { inLab } from '../support/lab.mjs';

/** @typedef {import('puppeteer-core').Page} Page */
/** @typedef {{ cancel: any, call: any, next: any }} Answers */

const lab = useLabWithGateway();

/** Makes a host whose capability computes forever. @param {Page} page @param {string} [gateway] */
const host = (page, gateway) =>
  inLab(page, async ({ newHost, join }, gateway) => {
    const host = await newHost();
    host.registerWorker('part', undefined, '/workers/parts.js');
    Object.assign(globalThis, { host });
    host.expose(window);
    host.acceptMessages();
    if (gateway) await join(host, gateway);
  }, gateway);

/** Cancels an endless call through an agent in the page. @param {Page} page @param {string} how @returns {Promise<Answers>} */
const inThePage = (page, how) =>
  inLab(page, async ({ begins, connect, frame, inPage }, how) => {
    const { host } = /** @type {any} */ (globalThis);
    const connected = async () => {
      if (how === 'in page') return inPage(host);
      if (how === 'port') return connect(host);
      const element = await frame('/lab/');
      const { contentWindow, contentDocument } = element;
      while (!contentDocument.documentElement.dataset.ready) await new Promise((resolve) => setTimeout(resolve, 5));
      return contentWindow.lab.agents.connectWindow(window, { origin: location.origin });
    };
    const agent = await connected();
    const spins = begins('spinning');
    const call = agent.call('part', { part: 'spin' }, { callId: 'spin' });
    await spins;
    return { cancel: await agent.cancel('spin'), call: await call, next: await agent.call('part', { part: 'echo', data: 1 }) };
  }, how);

/** Cancels an endless call from outside the page. @param {Page} page @param {any} agent @returns {Promise<Answers>} */
async function outside(page, agent) {
  await page.evaluate(() => {
    const spins = /** @type {any} */ (globalThis).lab.begins('spinning');
    Object.assign(globalThis, { spins });
  });
  const call = agent.call('part', { part: 'spin' }, { callId: 'spin' });
  await page.evaluate(() => /** @type {any} */ (globalThis).spins);
  const answers = { cancel: await agent.cancel('spin'), call: await call, next: await agent.call('part', { part: 'echo', data: 1 }) };
  await agent.shutdown();
  return answers;
}

/** @type {Record<string, (page: Page) => Promise<Answers>>} */
const ways = {
  'in the page': async (page) => host(page).then(() => inThePage(page, 'in page')),
  'over a MessagePort': async (page) => host(page).then(() => inThePage(page, 'port')),
  'from a frame': async (page) => host(page).then(() => inThePage(page, 'frame')),
  'through Puppeteer': async (page) => {
    await host(page);
    return outside(page, await attach(page, { agent: { name: 'runaway', version: '1' } }));
  },
  'over a WebSocket, through the gateway': async (page) => {
    await host(page, lab.urls.app);
    return outside(page, await connectWebSocket(lab.urls.agent));
  },
};

for (const [way, run] of Object.entries(ways)) {
  test(`an endless computation is cancelled ${way}, and was terminated`, { timeout: 30_000 }, async () => {
    const page = await lab.page();
    try {
      const { cancel, call, next } = await run(page);
      assert.deepEqual([cancel.cancelled, cancel.metadata.stop, cancel.metadata.step], [true, 'terminated', 'terminate']);
      assert.deepEqual([call.cancelled, call.metadata.stop, call.metadata.step], [true, 'terminated', 'terminate']);
      assert.equal(next.data, 1);
    } finally {
      await page.close();
    }
  });
}
