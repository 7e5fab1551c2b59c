import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inLab, useLab } from '../support/lab.mjs';

const lab = useLab();

const AGENTS = 100;
const CALLS = 80;
const PAGE = 65_536;

/**
 * Agents that connect over a port, call, shut down, and close the port without a word.
 *
 * @param {{ agents: number, calls: number }} load
 * @param {any} host
 * @param {(port: any) => Promise<any>} connectPort
 */
async function comeAndGo({ agents, calls }, host, connectPort) {
  for (let number = 0; number < agents; number += 1) {
    const { port1, port2 } = new MessageChannel();
    host.acceptPort(port1);
    const agent = await connectPort(port2);
    await Promise.all(Array.from({ length: calls }, (_, call) => agent.call('test.echo', {}, { callId: `call ${call}` })));
    await agent.shutdown();
    port2.close();
  }
}

/** Records the size of the wasm memory that is loaded from now on. */
function watchMemory() {
  const { instantiate } = WebAssembly;
  /** @type {any} */
  const watch = { bytes: 0 };
  /** @type {any} */ (WebAssembly).instantiate = async (/** @type {any} */ ...args) => {
    const loaded = await /** @type {any} */ (instantiate)(...args);
    const memory = Object.values(loaded.instance.exports).find((it) => it instanceof WebAssembly.Memory);
    Object.defineProperty(watch, 'bytes', { get: () => memory?.buffer.byteLength });
    return loaded;
  };
  return watch;
}

/** The growth after the first round. The first round allocates memory that always stays. @param {{ bytes: number }[]} rounds */
const growth = ([first, ...rest]) => rest.map(({ bytes }) => bytes - (first?.bytes ?? 0));

test('in Node, agents that come and go leave no memory taken', async () => {
  const watch = watchMemory();
  const [{ createHost }, { connectPort }] = await Promise.all([import('caphost'), import('caphost/agent')]);
  const host = await createHost({ app: { id: 'lab', name: 'Laboratory', version: '1' } });
  host.register('test.echo', {}, async (params) => params);
  const rounds = [];
  for (let round = 0; round < 3; round += 1) {
    await comeAndGo({ agents: AGENTS, calls: CALLS }, host, connectPort);
    rounds.push({ bytes: watch.bytes });
  }
  // Until an agent is garbage-collected, it remembers how its calls have ended.
  const [, most = 0] = growth(rounds);
  assert.ok(most <= 2 * AGENTS * 4_096, `grew by ${most / PAGE} pages`);
  assert.equal(host.stats().sessions, 0);
  host.close();
});

test('in a page, agents that come and go leave no memory and no listener behind', async () => {
  const page = await lab.browser.newPage();
  try {
    await page.evaluateOnNewDocument(`globalThis.watch = (${watchMemory})()`);
    await page.goto(lab.server.url('/lab/'));
    await page.waitForSelector('html[data-ready]');
    await inLab(page, async ({ newHost }) => {
      Object.assign(globalThis, { host: await newHost() });
    });
    const devTools = await page.createCDPSession();
    const rounds = [];
    for (let round = 0; round < 4; round += 1) {
      await page.evaluate(`(${comeAndGo})(${JSON.stringify({ agents: AGENTS, calls: CALLS })}, host, lab.agents.connectPort)`);
      await devTools.send('HeapProfiler.collectGarbage');
      // A finalizer runs in a task of its own.
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
      await devTools.send('HeapProfiler.collectGarbage');
      const { JSEventListeners: listeners } = await page.metrics();
      rounds.push({ listeners, .../** @type {any} */ (await page.evaluate('({ bytes: watch.bytes, ...host.stats() })')) });
    }
    assert.deepEqual(growth(rounds.slice(1)), [0, 0]);
    assert.deepEqual(new Set(rounds.map(({ listeners }) => listeners)).size, 1, rounds.map(({ listeners }) => listeners).join());
    assert.equal(rounds.at(-1).sessions, 0);
  } finally {
    await page.close();
  }
});

test('a released port belongs to its owner again, and its agent is told', async () => {
  const seen = await lab.run(async ({ newHost, agents, event }) => {
    const host = await newHost();
    const { port1, port2 } = new MessageChannel();
    const release = host.acceptPort(port1);
    const agent = await agents.connectPort(port2);
    const held = agent.call('test.hold', {}, { callId: 'held' });
    await agent.call('test.started', { callId: 'held' });
    const cancelled = event(host, (/** @type {any} */ it) => it.state === 'cancelled');
    release();
    await cancelled;
    const heard = new Promise((resolve) => { port1.onmessage = ({ data }) => resolve(data); });
    const ended = [(await held).error.code, await agent.closed];
    port2.postMessage('for its owner');
    return { ended, heard: await heard, sessions: host.stats().sessions, connections: host.shell.connections.size };
  });
  assert.deepEqual(seen, { ended: ['DISCONNECTED', 'disconnected'], heard: 'for its owner', sessions: 0, connections: 0 });
});

test('an agent may open another session over the same port', async () => {
  const seen = await lab.run(async ({ newHost, agents, rawPort }) => {
    const host = await newHost();
    const { port1, port2 } = new MessageChannel();
    host.acceptPort(port1);
    const ids = [];
    for (let round = 0; round < 2; round += 1) {
      const agent = await agents.connectPort(port2);
      ids.push(agent.sessionId);
      await agent.call('test.echo', {}, { callId: 'the same' });
      await agent.shutdown();
    }
    const raw = await rawPort(host);
    raw.post({ type: 'shutdown', timestamp: 0, payload: {} });
    const { error } = await raw.call('test.echo');
    await raw.initialize();
    return { sessions: new Set(ids).size, error: error.code, echo: (await raw.call('test.echo', { a: 1 })).data };
  });
  assert.deepEqual(seen, { sessions: 2, error: 'NOT_INITIALIZED', echo: { a: 1 } });
});

test('a port whose host is closed says so to later agents', async () => {
  const seen = await lab.run(async ({ newHost, rawPort }) => {
    const host = await newHost();
    const raw = await rawPort(host, false);
    host.close();
    const { error } = await raw.initialize();
    return error.code;
  });
  assert.equal(seen, 'NOT_INITIALIZED');
});
