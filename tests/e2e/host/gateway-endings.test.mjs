import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { connectWebSocket } from 'caphost/agent';
import { inLab } from '../support/lab.mjs';
import { useLabWithGateway } from '../support/lab-gateway.mjs';

const lab = useLabWithGateway();

/** Opens a page whose host is connected to the gateway. */
async function appPage() {
  const page = await lab.page();
  await inLab(page, async ({ newHost, join }, url) => {
    const host = await newHost();
    Object.assign(window, { host });
    await join(host, url);
  }, lab.urls.app);
  return page;
}

/** Starts a call of an agent in Node. @param {string} callId */
async function agentWithCall(callId) {
  const agent = await connectWebSocket(lab.urls.agent, { agent: { name: 'endings', version: '1' } });
  const held = agent.call('test.hold', {}, { callId });
  await agent.call('test.started', { callId });
  return { agent, held };
}

/** @type {Record<string, (page: import('puppeteer-core').Page) => Promise<unknown>>} */
const ends = {
  'is closed': (page) => page.close(),
  'is navigated': (page) => page.goto('about:blank'),
  'is reloaded': (page) => page.reload(),
  'has crashed': async (page) => {
    const devTools = await page.createCDPSession();
    // This command is never answered.
    devTools.send('Page.crash').catch(() => {});
  },
};

for (const [what, end] of Object.entries(ends)) {
  test(`an app whose page ${what} settles its agents' calls with DISCONNECTED`, async () => {
    const page = await appPage();
    try {
      const first = await agentWithCall('held');
      const second = await agentWithCall('held');
      await end(page);
      for (const { agent, held } of [first, second]) {
        const { success, cancelled, error } = await held;
        assert.deepEqual([success, cancelled, error?.code, error?.retryable], [false, undefined, 'DISCONNECTED', true]);
        assert.equal(await agent.closed, 'disconnected');
        const answer = await agent.cancel('held');
        assert.deepEqual([answer.cancelled, answer.error?.code], [false, 'DISCONNECTED']);
      }
      await assert.rejects(connectWebSocket(lab.urls.agent), { code: 'DISCONNECTED' });
    } finally {
      if (!page.isClosed()) await page.close();
    }
  });
}

test('a closing host cancels and answers the pending calls of its agents', async () => {
  const page = await appPage();
  try {
    const { agent, held } = await agentWithCall('held');
    await page.evaluate(() => /** @type {any} */ (window).host.close());
    assert.equal((await held).cancelled, true);
    assert.equal(await agent.closed, 'disconnected');
  } finally {
    await page.close();
  }
});

/** The ways in which an agent leaves. @type {Record<string, (it: { socket: WebSocket, agent: import('caphost/agent').Agent }) => unknown>} */
const leaves = {
  'shuts down': ({ agent }) => agent.shutdown(),
  'closes its socket': ({ socket }) => socket.close(),
  'drops its connection': ({ socket }) => socket.terminate(),
};

for (const [how, leave] of Object.entries(leaves)) {
  test(`when an agent ${how}, the handlers of its calls are told to stop, and nobody else's`, async () => {
    const page = await appPage();
    try {
      /** @type {WebSocket | undefined} */
      let socket;
      class Socket extends WebSocket {
        /** @param {string} url @param {string[]} [protocols] */
        constructor(url, protocols) {
          super(url, protocols);
          socket = this;
        }
      }
      const agent = await connectWebSocket(lab.urls.agent, { WebSocket: Socket });
      void agent.call('test.hold', {}, { callId: 'mine' });
      await agent.call('test.started', { callId: 'mine' });
      const other = await agentWithCall('other');
      const closed = await page.evaluateHandle(() => {
        const { host, lab } = /** @type {any} */ (window);
        return { done: lab.event(host, (/** @type {any} */ it) => it.type === 'session' && it.state === 'closed') };
      });
      assert.ok(socket);
      void leave({ socket, agent });
      await page.evaluate(({ done }) => done, closed);
      const { data: mine } = await other.agent.call('test.report', { callId: 'mine' });
      const { data: others } = await other.agent.call('test.report', { callId: 'other' });
      assert.deepEqual([mine.aborted, others.aborted], [true, false]);
      assert.equal(await page.evaluate(() => /** @type {any} */ (window).host.stats().inFlight), 1);
      await other.agent.cancel('other');
      assert.equal((await other.held).cancelled, true);
      await other.agent.shutdown();
    } finally {
      await page.close();
    }
  });
}

test('a gateway that is killed ends the calls on both sides; when it is back, so is the app', async () => {
  const page = await appPage();
  try {
    const { agent, held } = await agentWithCall('held');
    const states = await page.evaluateHandle(() => {
      const { host, lab } = /** @type {any} */ (window);
      /** @type {string[]} */
      const seen = [];
      host.observe((/** @type {any} */ it) => it.type === 'gateway' && seen.push(it.state));
      const cancelled = lab.event(host, (/** @type {any} */ it) => it.type === 'call' && it.state === 'cancelled');
      const again = lab.event(host, (/** @type {any} */ it) => it.type === 'gateway' && it.state === 'connecting');
      const connected = lab.event(host, (/** @type {any} */ it) => it.type === 'gateway' && it.state === 'connected');
      return { seen, cancelled, again, connected };
    });
    await lab.kill();
    assert.equal((await held).error?.code, 'DISCONNECTED');
    assert.equal(await agent.closed, 'disconnected');
    const inFlight = await page.evaluate(async ({ cancelled, again }) => {
      await Promise.all([cancelled, again]);
      return /** @type {any} */ (window).host.stats().inFlight;
    }, states);
    assert.equal(inFlight, 0);
    await assert.rejects(connectWebSocket(lab.urls.agent), { code: 'DISCONNECTED' });
    await lab.restart();
    const seen = await page.evaluate(async ({ connected, seen }) => {
      await connected;
      return seen;
    }, states);
    assert.deepEqual([seen[0], seen[1], seen.at(-2), seen.at(-1)], ['disconnected', 'connecting', 'connecting', 'connected']);
    const back = await connectWebSocket(lab.urls.agent);
    assert.deepEqual((await back.call('test.echo', { a: 1 })).data, { a: 1 });
    assert.equal((await back.cancel('held')).reason, 'Operation not found');
    await back.shutdown();
  } finally {
    await page.close();
  }
});

test('agents behind the gateway know capabilities that are registered after the app has connected', async () => {
  const page = await appPage();
  try {
    const agent = await connectWebSocket(lab.urls.agent, { onNotification: (event) => events.push(event) });
    /** @type {string[]} */
    const events = [];
    await page.evaluate(() => /** @type {any} */ (window).host.register('late', {}, async () => 'late'));
    assert.equal((await agent.call('late')).data, 'late');
    assert.ok(agent.capabilities.some(({ name }) => name === 'late'));
    await page.evaluate(() => /** @type {any} */ (window).host.unregister('late'));
    assert.equal((await agent.call('late')).error?.code, 'UNKNOWN_CAPABILITY');
    assert.equal(events.length, 2);
    await agent.shutdown();
  } finally {
    await page.close();
  }
});

test('an invalid URL is refused, and a missing gateway is tried again until close()', async () => {
  const seen = await lab.run(async ({ newHost, event }) => {
    const host = await newHost();
    const codes = ['nonsense://x', 'ws://'].map((url) => {
      try {
        host.connectGateway(url);
        return 'connecting';
      } catch (error) {
        return /** @type {any} */ (error).code;
      }
    });
    /** @type {string[]} */
    const states = [];
    host.observe((/** @type {any} */ it) => it.type === 'gateway' && states.push(it.state));
    host.connectGateway('ws://127.0.0.1:9/abp/app');
    await event(host, (/** @type {any} */ it) => it.state === 'disconnected');
    await event(host, (/** @type {any} */ it) => it.state === 'disconnected');
    host.close();
    return { codes, states };
  });
  assert.deepEqual(seen.states.slice(0, 4), ['connecting', 'disconnected', 'connecting', 'disconnected']);
  assert.deepEqual(seen.codes, ['INVALID_PARAMS', 'INVALID_PARAMS']);
});
