import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectWebSocket } from 'caphost/agent';
import { inLab } from '../support/lab.mjs';
import { useLabWithGateway } from '../support/lab-gateway.mjs';
import { agreeWithHandlers } from '../support/oracle.mjs';
import { race } from '../support/race.mjs';
import { startTcpProxy } from '../support/tcp-proxy.mjs';

const GRACE_MS = 3_000;

const lab = useLabWithGateway(['--app-grace', `${GRACE_MS}ms`]);
/** @type {Awaited<ReturnType<typeof startTcpProxy>>} */
let wire;
before(async () => {
  wire = await startTcpProxy(() => lab.gateway.port);
});
after(() => wire?.close());

/** Opens a page whose host is connected to the gateway over the wire, and that records the states of the gateway. */
async function appPage() {
  wire.mend();
  const page = await lab.page();
  await inLab(page, async ({ newHost, join, event }, url) => {
    const host = await newHost();
    /** @type {string[]} */
    const states = [];
    host.observe((/** @type {any} */ it) => it.type === 'gateway' && states.push(it.resumed ? 'resumed' : it.state));
    /** Waits for the next event of the gateway with this state. */
    const next = (/** @type {string} */ state) => ({
      come: event(host, (/** @type {any} */ it) => it.type === 'gateway' && (it.resumed ? 'resumed' : it.state) === state),
    });
    Object.assign(window, { host, states, next });
    await join(host, url);
  }, `ws://127.0.0.1:${wire.port}/abp/app`);
  return page;
}

/** Starts waiting for a state of the gateway. @param {import('puppeteer-core').Page} page @param {string} state */
const next = async (page, state) => {
  const handle = await page.evaluateHandle((wanted) => /** @type {any} */ (window).next(wanted), state);
  return () => page.evaluate(({ come }) => come.then(() => {}), handle);
};

/** @param {import('puppeteer-core').Page} page @returns {Promise<any>} */
const states = (page) => page.evaluate(() => /** @type {any} */ (window).states);

/** Starts a call of an agent in Node. @param {string} callId */
async function agentWithCall(callId) {
  const agent = await connectWebSocket(lab.urls.agent, { agent: { name: 'resumes', version: '1' } });
  const settled = { times: 0 };
  const held = agent.call('test.hold', {}, { callId }).finally(() => (settled.times += 1));
  await agent.call('test.started', { callId });
  return { agent, held, settled };
}

/** Counts how often the page's handler runs. @param {import('puppeteer-core').Page} page @param {string} callId */
const countRuns = (page, callId) =>
  page.evaluate((id) => {
    const runs = { count: 0 };
    /** @type {any} */ (window).host.observe((/** @type {any} */ it) => {
      if (it.type === 'call' && it.state === 'running' && it.callId === id) runs.count += 1;
    });
    Object.assign(window, { runs });
  }, callId);

/** Returns a value of the gateway's metrics. @param {string} name */
async function metric(name) {
  const text = await (await fetch(`${lab.gateway.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

test('a call in progress survives the loss of the connection, and is answered once', async () => {
  const page = await appPage();
  try {
    const { agent, held, settled } = await agentWithCall('survives');
    const resumed = await next(page, 'resumed');
    wire.cut();
    await resumed();
    assert.equal(settled.times, 0);
    await agent.call('test.release', { callId: 'survives' });
    assert.deepEqual((await held).data, { released: true });
    assert.equal((await agent.cancel('survives')).reason, 'Operation already completed');
    assert.deepEqual(await states(page), ['connecting', 'connected', 'disconnected', 'connecting', 'resumed']);
    await agent.shutdown();
  } finally {
    await page.close();
  }
});

test('a call that ends while the connection is lost is answered once, and one made meanwhile runs once', async () => {
  const page = await appPage();
  try {
    const { agent, held, settled } = await agentWithCall('ends');
    await countRuns(page, 'meanwhile');
    const lost = await next(page, 'disconnected');
    wire.sever();
    await lost();
    const resumed = await next(page, 'resumed');
    await page.evaluate(async () => {
      const { host, lab } = /** @type {any} */ (window);
      const done = lab.event(host, (/** @type {any} */ it) => it.type === 'call' && it.callId === 'ends' && it.state === 'completed');
      const { port1, port2 } = new MessageChannel();
      host.acceptPort(port1);
      const other = await lab.agents.connectPort(port2);
      await other.call('test.release', { callId: 'ends' });
      await done;
    });
    const meanwhile = agent.call('test.echo', { a: 1 }, { callId: 'meanwhile' });
    assert.equal(settled.times, 0);
    wire.mend();
    await resumed();
    assert.deepEqual((await held).data, { released: true });
    assert.deepEqual((await meanwhile).data, { a: 1 });
    assert.equal(await page.evaluate(() => /** @type {any} */ (window).runs.count), 1);
    await agent.shutdown();
  } finally {
    await page.close();
  }
});

test('the page confirms a cancel that was requested while the connection is lost', async () => {
  const page = await appPage();
  try {
    const { agent, held } = await agentWithCall('cancelled');
    const lost = await next(page, 'disconnected');
    wire.sever();
    await lost();
    const answer = agent.cancel('cancelled', 'enough');
    const inFlight = await page.evaluate(() => /** @type {any} */ (window).host.stats().inFlight);
    assert.equal(inFlight, 1, 'nobody has told the page');
    wire.mend();
    assert.equal((await answer).cancelled, true);
    assert.equal((await held).cancelled, true);
    const { data } = await agent.call('test.report', { callId: 'cancelled' });
    assert.deepEqual([data.aborted, data.reason], [true, 'enough']);
    await agent.shutdown();
  } finally {
    await page.close();
  }
});

test('a loss longer than the grace is DISCONNECTED for the agent, and cancels the work in the page', async () => {
  const page = await appPage();
  try {
    const { agent, held } = await agentWithCall('too-long');
    const before = await metric('caphost_apps_lost_total');
    const cancelled = await page.evaluateHandle(() => {
      const { host, lab } = /** @type {any} */ (window);
      return { come: lab.event(host, (/** @type {any} */ it) => it.type === 'call' && it.callId === 'too-long' && it.state === 'cancelled') };
    });
    wire.sever();
    const answer = await agent.cancel('too-long');
    assert.deepEqual([answer.cancelled, answer.error?.code], [false, 'DISCONNECTED']);
    assert.equal((await held).error?.code, 'DISCONNECTED');
    assert.equal(await agent.closed, 'disconnected');
    await page.evaluate(({ come }) => come.then(() => {}), cancelled);
    const connected = await next(page, 'connected');
    wire.mend();
    await connected();
    assert.ok(!(await states(page)).includes('resumed'));
    assert.equal(await metric('caphost_apps_lost_total'), before + 1);
    const back = await connectWebSocket(lab.urls.agent);
    assert.deepEqual((await back.call('test.echo', { b: 2 })).data, { b: 2 });
    await back.shutdown();
  } finally {
    await page.close();
  }
});

test('calls raced against cancels while the connection is lost again and again', { timeout: 120_000 }, async () => {
  const page = await appPage();
  try {
    await page.evaluate(async () => {
      const { registerRaceCapabilities } = await import(/** @type {any} */ ('/host/race.js'));
      const { host } = /** @type {any} */ (window);
      Object.assign(window, { race: registerRaceCapabilities(host) });
      /** @type {Map<string, number>} */
      const runs = new Map();
      host.observe((/** @type {any} */ it) => {
        if (it.type === 'call' && it.state === 'running') runs.set(it.callId, (runs.get(it.callId) ?? 0) + 1);
      });
      Object.assign(window, { twice: () => [...runs].filter(([, count]) => count > 1) });
    });
    const agent = await connectWebSocket(lab.urls.agent, { agent: { name: 'racer', version: '1' } });
    let over = false;
    const racing = race(agent, { calls: 3_000, width: 50, seed: 3, prefix: 'cut-' }).finally(() => (over = true));
    let cuts = 0;
    while (!over) {
      const resumed = await next(page, 'resumed');
      wire.cut();
      await Promise.race([resumed(), racing]);
      cuts += 1;
    }
    const tally = await racing;
    assert.deepEqual([tally.contradictions, tally.other], [[], []]);
    assert.equal(tally.heard.length, 3_000);
    assert.ok(cuts >= 3, `${cuts} cuts`);
    assert.deepEqual(await page.evaluate(() => /** @type {any} */ (window).twice()), []);
    await agreeWithHandlers(page, tally.heard);
    await agent.shutdown();
  } finally {
    await page.close();
  }
});
