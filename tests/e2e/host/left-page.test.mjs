import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectWebSocket } from 'caphost/agent';
import { inLab } from '../support/lab.mjs';
import { useLabWithGateway } from '../support/lab-gateway.mjs';
import { startTcpProxy } from '../support/tcp-proxy.mjs';

/** Long enough that nothing here waits for it by chance. */
const lab = useLabWithGateway(['--app-grace', '60s'], async () => ({
  // Chromium keeps no page to come back to that is not to be stored.
  pages: { '/kept/': '<!doctype html><script type="module" src="/lab/lab.js"></script>', '/next/': '<!doctype html>' },
}));
/** @type {Awaited<ReturnType<typeof startTcpProxy>>} */
let wire;
before(async () => {
  wire = await startTcpProxy(() => lab.gateway.port);
});
after(() => wire?.close());

/** The page's host joins the gateway over the wire. @param {import('puppeteer-core').Page} page */
const join = (page) =>
  inLab(page, async ({ newHost, join, event }, url) => {
    const host = await newHost();
    Object.assign(window, { host });
    await join(host, url);
    const comesBack = event(host, (/** @type {any} */ it) => it.type === 'gateway' && it.state === 'connected');
    Object.assign(window, { comesBack });
    addEventListener('pageshow', ({ persisted }) => Object.assign(window, { persisted }));
  }, `ws://127.0.0.1:${wire.port}/abp/app`);

/** An agent in Node with a call in flight. */
async function agentWithCall() {
  const agent = await connectWebSocket(lab.urls.agent);
  const held = agent.call('test.hold', {}, { callId: 'held' });
  await agent.call('test.started', { callId: 'held' });
  return { agent, held };
}

/** How long something takes, in milliseconds. @param {Promise<any>} promise */
async function taken(promise) {
  const began = performance.now();
  return { value: await promise, took: performance.now() - began };
}

test('a page that is kept to come back to leaves its gateway at once, and comes back to it', async () => {
  const page = await lab.page(lab.server.url('/kept/'));
  try {
    await join(page);
    const { agent, held } = await agentWithCall();
    await page.goto(lab.server.url('/next/'));
    const { value, took } = await taken(held);
    assert.equal(value.error?.code, 'DISCONNECTED');
    assert.ok(took < 5_000, `${took} ms`);
    assert.equal(await agent.closed, 'disconnected');
    await page.goBack();
    const seen = await page.evaluate(async () => {
      const { host, comesBack, persisted } = /** @type {any} */ (window);
      await comesBack;
      const { inFlight, sessions } = host.stats();
      return { persisted, inFlight, sessions };
    });
    assert.deepEqual(seen, { persisted: true, inFlight: 0, sessions: 0 });
    const back = await connectWebSocket(lab.urls.agent);
    assert.deepEqual((await back.call('test.echo', { a: 1 })).data, { a: 1 });
    await back.shutdown();
  } finally {
    await page.close();
  }
});

test('a page that was reloaded with much still to be sent settles the calls of the one before when it registers', async () => {
  const page = await lab.page();
  try {
    await join(page);
    const { agent, held } = await agentWithCall();
    wire.stall();
    await page.evaluate(() => /** @type {any} */ (window).host.notify('large', 'x'.repeat(12_000_000)));
    await page.reload();
    await page.waitForSelector('html[data-ready]');
    await join(page);
    const { value, took } = await taken(held);
    assert.equal(value.error?.code, 'DISCONNECTED');
    assert.ok(took < 5_000, `${took} ms`);
    assert.equal(await agent.closed, 'disconnected');
    const next = await connectWebSocket(lab.urls.agent);
    assert.deepEqual((await next.call('test.echo', { a: 1 })).data, { a: 1 });
    await next.shutdown();
  } finally {
    await page.close();
  }
});

test('a page that comes back has ended the sessions of those whom it has told that it is gone', async () => {
  const page = await lab.page(lab.server.url('/kept/'));
  try {
    await inLab(page, async ({ newHost, running }) => {
      const host = await newHost();
      const runs = running(host, 'held');
      host.acceptPort(new Worker('/worker/agent.js', { type: 'module' }));
      await runs;
      const shown = new Promise((resolve) => addEventListener('pageshow', ({ persisted }) => resolve(persisted)));
      Object.assign(window, { host, shown });
    });
    await page.goto(lab.server.url('/next/'));
    await page.goBack();
    const seen = await page.evaluate(async () => {
      const { host, shown } = /** @type {any} */ (window);
      const { inFlight, sessions } = host.stats();
      return { persisted: await shown, inFlight, sessions, connections: host.shell.connections.size };
    });
    assert.deepEqual(seen, { persisted: true, inFlight: 0, sessions: 0, connections: 0 });
  } finally {
    await page.close();
  }
});
