import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { WebSocket } from 'ws';
import { useCluster } from '../support/cluster.mjs';
import { cancelled } from '../support/lab.mjs';

// The times are long, so that no peer counts as dead here, however busy the machine is. Other tests
// cover dead peers.
const cluster = useCluster({ args: ['--worker-lease', '60s', '--redis-patience', '60s', '--dead-peer-timeout', '120s'] });
/** The page of the app. The app is on worker 1, its callers are on worker 2. @type {import('puppeteer-core').Page} */
let page;
/** @type {import('caphost/agent').Agent} */
let agent;

before(async () => {
  await cluster.begun;
  page = await cluster.appPage(cluster.worker(1));
  await page.evaluate(() => {
    const { host } = /** @type {any} */ (globalThis);
    host.register('steps', {}, async (/** @type {any} */ { count }, /** @type {any} */ { progress }) => {
      for (let step = 1; step <= count; step += 1) progress({ progress: step, total: count, stage: `step ${step}` });
      return 'done';
    });
    host.register('ask', {}, async (/** @type {any} */ request, /** @type {any} */ { elicit }) => {
      const { metadata: _, ...answer } = await elicit(request);
      return answer;
    });
    host.register('large', {}, async (/** @type {any} */ { bytes, fill }) => ({ content: fill.repeat(bytes), mimeType: 'text/plain' }));
  });
  agent = await cluster.agent(2);
});
after(() => agent?.shutdown());

/** An answer without the values that differ between runs. @param {Promise<any>} response */
const answerOf = async (response) => {
  const { metadata: _, ...answer } = await response;
  return answer;
};

test('every step of progress comes, in order and before the result', async () => {
  /** @type {any[]} */
  const seen = [];
  const response = agent.call('steps', { count: 200 }, { callId: 'steps', onProgress: (info) => seen.push(info) });
  assert.deepEqual(await answerOf(response), { success: true, data: 'done' });
  assert.deepEqual(seen.map(({ progress }) => progress), Array.from({ length: 200 }, (_, index) => index + 1));
  assert.deepEqual(seen[199], { operationId: 'steps', progress: 200, total: 200, percentage: 100, stage: 'step 200' });
});

test('a question goes only to the agent that has called', async () => {
  const asked = /** @type {Record<string, any[]>} */ ({ one: [], other: [] });
  const agents = await Promise.all(Object.entries(asked).map(([name, questions]) => cluster.agent(2, 'lab', {
    onElicitation: (request) => {
      questions.push(request);
      return `answer of ${name}`;
    },
  })));
  try {
    const [one, other] = /** @type {[import('caphost/agent').Agent, import('caphost/agent').Agent]} */ (agents);
    assert.deepEqual((await one.call('ask', { type: 'confirm', message: 'Sure?' })).data, { success: true, data: 'answer of one' });
    assert.deepEqual((await other.call('ask', { type: 'text' })).data, { success: true, data: 'answer of other' });
    assert.deepEqual(asked, { one: [{ type: 'confirm', message: 'Sure?' }], other: [{ type: 'text' }] });
  } finally {
    await Promise.all(agents.map((it) => it.shutdown()));
  }
});

test('a question whose call is cancelled is withdrawn', async () => {
  /** @type {(signal: AbortSignal) => void} */
  let heard = () => {};
  const signal = /** @type {Promise<AbortSignal>} */ (new Promise((resolve) => (heard = resolve)));
  const asking = await cluster.agent(2, 'lab', {
    onElicitation: (_, { signal }) => {
      heard(signal);
      return new Promise(() => {});
    },
  });
  try {
    const response = asking.call('ask', { type: 'confirm' }, { callId: 'asked' });
    const withdrawn = await signal;
    const gone = new Promise((resolve) => withdrawn.addEventListener('abort', resolve, { once: true }));
    assert.deepEqual(await asking.cancel('asked'), { callId: 'asked', cancelled: true, metadata: { stop: 'returned' } });
    assert.deepEqual(await answerOf(response), cancelled);
    if (!withdrawn.aborted) await gone;
    assert.equal(await page.evaluate(() => /** @type {any} */ (globalThis).host.stats().elicitations), 0);
  } finally {
    await asking.shutdown();
  }
});

test('shutdown cancels what is in flight, and answers it', async () => {
  const leaving = await cluster.agent(2);
  const calls = Array.from({ length: 20 }, (_, index) => leaving.call('test.hold', {}, { callId: `held ${index}` }));
  for (let index = 0; index < 20; index += 1) await leaving.call('test.started', { callId: `held ${index}` });
  await leaving.shutdown();
  for (const call of calls) assert.deepEqual(await answerOf(call), cancelled);
  const report = await agent.call('test.report', { callId: 'held 0' });
  assert.deepEqual([report.data.started, report.data.aborted], [true, true]);
});

test('an agent that drops its connection stops its own calls in the page, and no others', async () => {
  /** @type {WebSocket | undefined} */
  let socket;
  class Socket extends WebSocket {
    /** @param {string} url @param {string[]} [protocols] */
    constructor(url, protocols) {
      super(url, protocols);
      socket = this;
    }
  }
  const dropped = await cluster.agent(2, 'lab', { WebSocket: Socket });
  const lost = dropped.call('test.hold', {}, { callId: 'lost' });
  const kept = agent.call('test.hold', {}, { callId: 'kept' });
  for (const callId of ['lost', 'kept']) await agent.call('test.started', { callId });
  const stopped = await page.evaluateHandle(() => {
    const { host, lab } = /** @type {any} */ (globalThis);
    return { call: lab.event(host, (/** @type {any} */ it) => it.type === 'call' && it.callId === 'lost' && it.state === 'cancelled') };
  });
  /** @type {WebSocket} */ (/** @type {unknown} */ (socket)).terminate();
  await page.evaluate(({ call }) => call, stopped);
  assert.equal((await lost).error?.code, 'DISCONNECTED');
  const { data } = await agent.call('test.report', { callId: 'kept' });
  assert.deepEqual([data.started, data.aborted], [true, false]);
  await agent.call('test.release', { callId: 'kept' });
  assert.deepEqual(await answerOf(kept), { success: true, data: { released: true } });
});

test('parameters and results of 10 MB come whole, and small calls go on meanwhile', { timeout: 60_000 }, async () => {
  const bytes = 10_000_000;
  const large = ['a', 'b', 'c', 'd'].map(async (fill) => {
    const { success, data, error } = await agent.call('large', { bytes, fill });
    assert.equal(success, true, JSON.stringify(error));
    assert.equal(data.content.length, bytes);
    assert.ok(data.content === fill.repeat(bytes), `nothing but ${fill}`);
  });
  const other = await cluster.agent(2);
  for (let index = 0; index < 50; index += 1) assert.deepEqual((await other.call('test.echo', { index })).data, { index });
  await Promise.all(large);
  const text = 'é'.repeat(bytes / 2);
  const { data } = await agent.call('test.echo', { text });
  assert.ok(data.text === text, 'the parameters have come back');
  await other.shutdown();
});

test('thousands of calls at once: half are cancelled, half return, and each ends as told', { timeout: 60_000 }, async () => {
  const count = process.env.CAPHOST_STORMS === 'full' ? 5_000 : 1_000;
  const ids = Array.from({ length: count }, (_, index) => `many-${index}`);
  const calls = ids.map((callId) => agent.call('test.hold', {}, { callId }));
  const started = await Promise.all(ids.map((callId) => agent.call('test.started', { callId })));
  assert.deepEqual(started.find(({ success }) => !success), undefined);
  assert.equal(await page.evaluate(() => /** @type {any} */ (globalThis).host.stats().inFlight), count);
  const told = await Promise.all(ids.map(async (callId, index) => {
    if (index % 2) return agent.cancel(callId);
    return agent.call('test.release', { callId });
  }));
  for (const [index, call] of calls.entries()) {
    const callId = ids[index];
    if (index % 2) assert.deepEqual([told[index], await answerOf(call)], [{ callId, cancelled: true, metadata: { stop: 'returned' } }, cancelled]);
    else assert.deepEqual(await answerOf(call), { success: true, data: { released: true } });
  }
  assert.equal(await page.evaluate(() => /** @type {any} */ (globalThis).host.stats().inFlight), 0);
});
