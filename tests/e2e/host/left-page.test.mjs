import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createHost } from 'caphost';
import { connectWebSocket } from 'caphost/agent';
import { inLab } from '../support/lab.mjs';
import { useLabWithGateway } from '../support/lab-gateway.mjs';
import { startTcpProxy } from '../support/tcp-proxy.mjs';

/** A lab with a grace so long that no test waits for its end. */
const lab = useLabWithGateway(['--app-grace', '60s'], async () => ({
  // Chromium does not keep a page for the back button if the page must not be stored.
  pages: { '/kept/': '<!doctype html><script type="module" src="/lab/lab.js"></script>', '/next/': '<!doctype html>' },
}));
/** @type {Awaited<ReturnType<typeof startTcpProxy>>} */
let wire;
before(async () => {
  wire = await startTcpProxy(() => lab.gateway.port);
});
after(() => wire?.close());

/** Connects the page's host to the gateway over the wire. @param {import('puppeteer-core').Page} page */
const join = (page) =>
  inLab(page, async ({ newHost, join, event }, url) => {
    const host = await newHost();
    Object.assign(window, { host });
    await join(host, url);
    const comesBack = event(host, (/** @type {any} */ it) => it.type === 'gateway' && it.state === 'connected');
    Object.assign(window, { comesBack });
    addEventListener('pageshow', ({ persisted }) => Object.assign(window, { persisted }));
  }, `ws://127.0.0.1:${wire.port}/abp/app`);

/** Starts a call of an agent in Node. */
async function agentWithCall() {
  const agent = await connectWebSocket(lab.urls.agent);
  const held = agent.call('test.hold', {}, { callId: 'held' });
  await agent.call('test.started', { callId: 'held' });
  return { agent, held };
}

/** Measures how long a promise takes, in milliseconds. @param {Promise<any>} promise */
async function taken(promise) {
  const began = performance.now();
  return { value: await promise, took: performance.now() - began };
}

test('a page in the back/forward cache leaves its gateway at once, and connects again when it is restored', async () => {
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

test('when a page that was reloaded with unsent data registers again, the calls of its previous session settle', async () => {
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

test('a restored page has ended the sessions of the agents that it had told about its end', async () => {
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

test('handlers of a page that is left learn this, over every transport', async () => {
  const page = await lab.page(lab.server.url('/kept/'));
  try {
    await join(page);
    await inLab(page, async ({ agents }) => {
      const { host } = /** @type {any} */ (window);
      /** @type {any} */
      const told = {};
      let begun = 0;
      host.register('tell', { replace: true }, (/** @type {any} */ { over }, /** @type {any} */ { signal }) => new Promise((resolve) => {
        begun += 1;
        signal.addEventListener('abort', () => resolve((told[over] = signal.reason.message)));
      }));
      /** @type {any} */
      const reasons = {};
      const names = new Map();
      host.observe((/** @type {any} */ event) => {
        if (event.type !== 'call') return;
        if (event.state === 'queued') names.set(event.callId, event.params.over);
        if (event.response) reasons[names.get(event.callId)] = event.reason;
      });
      const { port1, port2 } = new MessageChannel();
      host.acceptPort(port1);
      host.acceptMessages();
      host.expose();
      const { abp } = /** @type {any} */ (window);
      await abp.initialize({ agent: { name: 'a', version: '1' }, protocolVersion: '0.1' });
      void abp.call('tell', { over: 'window.abp' });
      const byPort = await agents.connectPort(port2);
      void byPort.call('tell', { over: 'a port' });
      const byWindow = await agents.connectWindow(window);
      void byWindow.call('tell', { over: 'a window' });
      while (begun < 3) await new Promise((resolve) => setTimeout(resolve, 10));
      Object.assign(window, { told, reasons, ends: { port: byPort.closed, window: byWindow.closed } });
      const { port1: plain, port2: theirs } = new MessageChannel();
      host.acceptPort(plain);
      theirs.postMessage({ type: 'initialize', id: 1, timestamp: 0, payload: { agent: { name: 'p', version: '1' }, protocolVersion: '0.1' } });
      theirs.postMessage({ type: 'capabilities/call', id: 2, timestamp: 0, payload: { capability: 'tell', params: { over: 'a plain port' } } });
      while (begun < 4) await new Promise((resolve) => setTimeout(resolve, 10));
    });
    const agent = await connectWebSocket(lab.urls.agent);
    const called = agent.call('tell', { over: 'a gateway' });
    await page.waitForFunction(() => /** @type {any} */ (window).host.stats().inFlight === 5);
    await page.goto(lab.server.url('/next/'));
    assert.equal((await called).error?.code, 'DISCONNECTED');
    await page.goBack();
    const { told, reasons, ends } = await page.evaluate(async () => {
      const { told, reasons, ends } = /** @type {any} */ (window);
      return { told, reasons, ends: [await ends.port, await ends.window] };
    });
    const left = 'The page was left';
    // The agents of the same page have left as well. Either their message or the page's own end is seen
    // first.
    const of = (/** @type {any} */ it) => [it['window.abp'], it['a plain port'], it['a gateway']];
    assert.deepEqual(of(told), [left, left, left]);
    assert.deepEqual(of(reasons), [left, left, left]);
    assert.match(told['a port'], /^The page (of the agent )?was left$/);
    assert.match(told['a window'], /^The page (of the agent )?was left$/);
    // No agent was shut down.
    assert.deepEqual(ends, ['disconnected', 'disconnected']);
  } finally {
    await page.close();
  }
});

test('an agent in a page that is left and restored was disconnected, and sent no shutdown', async () => {
  const host = await createHost({ app: { id: 'lab', name: 'Laboratory', version: '1' } });
  const page = await lab.page(lab.server.url('/kept/'));
  try {
    /** @type {any} */
    let held;
    host.register('held', {}, (_, { signal }) => new Promise((resolve) => {
      held = new Promise((told) => signal.addEventListener('abort', () => {
        told(signal.reason.message);
        resolve(1);
      }));
    }));
    const connected = new Promise((resolve) => host.observe((event) => event.type === 'gateway' && event.state === 'connected' && resolve(undefined)));
    host.connectGateway(lab.urls.app);
    await connected;
    await inLab(page, async ({ agents }, url) => {
      const agent = await agents.connectWebSocket(url);
      Object.assign(window, { agent, called: agent.call('held') });
      addEventListener('pageshow', ({ persisted }) => Object.assign(window, { persisted }));
    }, lab.urls.agent);
    while (!held) await new Promise((resolve) => setTimeout(resolve, 10));
    await page.goto(lab.server.url('/next/'));
    assert.equal(await held, 'The page of the agent was left');
    await page.goBack();
    const seen = await page.evaluate(async () => {
      const { agent, called, persisted } = /** @type {any} */ (window);
      return { persisted, closed: await agent.closed, code: (await called).error?.code, then: (await agent.call('held')).error?.code };
    });
    assert.deepEqual(seen, { persisted: true, closed: 'disconnected', code: 'DISCONNECTED', then: 'DISCONNECTED' });
  } finally {
    await page.close();
    host.close();
  }
});
