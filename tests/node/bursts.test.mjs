import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, connectPort } from 'caphost/agent';
import { WITHOUT_LIMITS, burst, kindsOfHandlers, offerKinds } from '../e2e/fixtures/lab/bursts.js';
import { inPage, newHost } from './host.mjs';

const MANY = 5_000;
const EXPECTED = `${MANY} as expected`;
/** @type {{ abp?: any }} */
const at = {};
const kinds = kindsOfHandlers(at);

async function hostOfAll() {
  const host = await newHost(WITHOUT_LIMITS);
  offerKinds(host, kinds);
  at.abp = await inPage(host);
  return host;
}

/** An agent over a port, which is closed with the test. @param {import('caphost').Host} host @param {import('node:test').TestContext} t */
async function agentOverPort(host, t) {
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  t.after(() => port2.close());
  return connectPort(port2);
}

test('thousands of calls come over a port while the schema validator loads, and all are answered', { timeout: 60_000 }, async (t) => {
  const host = await newHost(WITHOUT_LIMITS);
  const agent = await agentOverPort(host, t);
  // This is the first schema of the process.
  offerKinds(host, kinds);
  for (const name of ['has a schema', 'answers at once']) assert.equal(await burst(agent, name, /** @type {any} */ (kinds[name]), MANY), EXPECTED);
});

test('thousands of calls of one turn are all answered for any behaviour of their handlers, and the host continues', { timeout: 60_000 }, async (t) => {
  const host = await hostOfAll();
  const agent = await agentOverPort(host, t);
  for (const [name, kind] of Object.entries(kinds)) {
    await t.test(`a handler that ${name}, in the page`, async () => {
      assert.equal(await burst(at.abp, name, kind, MANY), EXPECTED);
      assert.equal(host.stats().inFlight, 0);
    });
    if (kind.inPageOnly) continue;
    await t.test(`a handler that ${name}, over a port`, async () => assert.equal(await burst(agent, name, kind, MANY), EXPECTED));
  }
});

test('thousands of calls over a synchronous transport are all answered', { timeout: 60_000 }, async () => {
  const host = await hostOfAll();
  const [left, right] = direct();
  host.accept(left);
  const agent = await connect(right);
  for (const [name, kind] of Object.entries(kinds)) {
    if (!kind.inPageOnly) assert.equal(await burst(agent, name, kind, MANY), EXPECTED);
  }
});

test('thousands of JSON-RPC calls that come before the part for JSON-RPC is loaded are all answered', { timeout: 60_000 }, async (t) => {
  const host = await hostOfAll();
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  t.after(() => port2.close());
  /** @type {any[]} */
  const answers = [];
  const answered = new Promise((resolve) => {
    port2.onmessage = ({ data }) => {
      if (data.id !== undefined && answers.push(data) === MANY) resolve(undefined);
    };
  });
  for (let id = 0; id < MANY; id += 1) {
    port2.postMessage({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'reports progress', arguments: { n: id } } });
  }
  await answered;
  assert.deepEqual(answers.filter(({ error }) => error), []);
  assert.deepEqual(answers.map(({ id }) => id).sort((a, b) => a - b), Array.from({ length: MANY }, (_, id) => id));
});

test('a call that has made thousands of others is cancelled with all of them, even if their handlers call back', { timeout: 60_000 }, async () => {
  const host = await hostOfAll();
  let told = 0;
  host.register('waits for a slot', { concurrency: 1 }, (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)));
  host.register('calls back when it is told', {}, (_, { signal, callId, progress }) => new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      told += 1;
      // Each of these calls reaches the host in the middle of the cancel.
      progress({ progress: 1 });
      void at.abp.cancel(callId);
      host.notify('stopped', {});
      resolve(undefined);
    });
  }));
  host.register('parent', {}, async (/** @type {any} */ { of }, { call }) => Promise.all(Array.from({ length: MANY }, () => call(of))));
  for (const of of ['waits for a slot', 'calls back when it is told']) {
    const call = at.abp.call('parent', { of }, { callId: of });
    while (host.stats().inFlight <= MANY) await new Promise((resolve) => setTimeout(resolve, 5));
    // Waits for the calls that can start.
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(await at.abp.cancel(of), { callId: of, cancelled: true, metadata: { stop: 'returned' } });
    assert.equal((await call).cancelled, true);
    assert.equal(host.stats().inFlight, 0);
  }
  assert.equal(told, MANY);
});

test('an observer that calls back at each step of thousands of calls sees all of them', { timeout: 60_000 }, async () => {
  const host = await hostOfAll();
  let told = 0;
  host.observe(({ type }) => {
    told += Number(type === 'call');
    host.notify('step', {});
    void at.abp.cancel('nothing');
  });
  assert.equal(await burst(at.abp, 'answers at once', /** @type {any} */ (kinds['answers at once']), MANY), EXPECTED);
  assert.equal(told, 3 * MANY);
});

test('calls of which each cancels the next when it is told to stop, and the last closes the host, are all answered', { timeout: 20_000 }, async () => {
  const host = await hostOfAll();
  const { abp } = at;
  host.register('falls', {}, (_, { signal, callId }) => new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      if (callId === '999') host.close();
      else void abp.cancel(String(Number(callId) + 1));
      resolve(undefined);
    });
  }));
  const calls = Array.from({ length: 1_000 }, (_, n) => abp.call('falls', {}, { callId: String(n) }));
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal((await abp.cancel('0')).cancelled, true);
  assert.deepEqual((await Promise.all(calls)).filter(({ cancelled }) => cancelled !== true), []);
});

for (const place of ['the page', 'a port']) {
  test(`thousands of calls and cancels of one turn agree, in ${place}`, { timeout: 60_000 }, async (t) => {
    const host = await hostOfAll();
    const agent = place === 'a port' ? await agentOverPort(host, t) : at.abp;
    host.register('waits', {}, (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)));
    const ids = Array.from({ length: MANY }, (_, n) => `${place}/${n}`);
    for (const turn of ['the same turn', 'the next turn']) {
      for (const [order, sorted] of /** @type {const} */ ([['oldest first', ids], ['newest first', [...ids].reverse()]])) {
        const named = (/** @type {string} */ id) => `${turn}, ${order}, ${id}`;
        const calls = ids.map((id) => agent.call('waits', {}, { callId: named(id) }));
        if (turn === 'the next turn') await new Promise((resolve) => setTimeout(resolve, 20));
        const cancels = await Promise.all(sorted.map((id) => agent.cancel(named(id))));
        const responses = new Map((await Promise.all(calls)).map((response, n) => [ids[n], response]));
        const odd = cancels.find(({ cancelled, metadata }, n) => !cancelled || JSON.stringify(metadata) !== JSON.stringify({ stop: responses.get(sorted[n])?.metadata.stop }));
        assert.equal(odd, undefined, `${turn}, ${order}`);
        assert.equal(host.stats().inFlight, 0);
      }
    }
  });

  test(`thousands of calls under one signal are all cancelled, in ${place}`, { timeout: 60_000 }, async (t) => {
    const host = await hostOfAll();
    const agent = place === 'a port' ? await agentOverPort(host, t) : at.abp;
    host.register('waits', {}, (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)));
    const options = { signal: AbortSignal.abort() };
    const stops = async (/** @type {Promise<any>[]} */ calls) => [...new Set((await Promise.all(calls)).map(({ cancelled, metadata }) => cancelled && metadata.stop))];
    assert.deepEqual(await stops(each(() => agent.call('waits', {}, options))), ['never-started']);
    const controller = new AbortController();
    const calls = each(() => agent.call('waits', {}, { signal: controller.signal }));
    await new Promise((resolve) => setTimeout(resolve, 20));
    controller.abort();
    assert.deepEqual(await stops(calls), ['returned']);
    assert.equal(host.stats().inFlight, 0);
  });
}

/** @template T @param {() => T} make @returns {T[]} */
const each = (make) => Array.from({ length: MANY }, make);

test('thousands of calls of a handler that removes itself are all answered', { timeout: 60_000 }, async () => {
  const host = await hostOfAll();
  host.register('removes itself', { concurrency: 1 }, () => host.unregister('removes itself'));
  const answers = await Promise.all(each(() => at.abp.call('removes itself')));
  assert.deepEqual(answers.map(({ data }) => data), each(() => false).with(0, true));
});

test('thousands of calls of a handler that closes the host are all answered', { timeout: 60_000 }, async () => {
  const host = await hostOfAll();
  let ran = 0;
  host.register('closes', {}, () => {
    ran += 1;
    host.close();
  });
  const answers = await Promise.all(each(() => at.abp.call('closes')));
  assert.deepEqual(answers.filter(({ success, cancelled, error }) => !success && !cancelled && !error), []);
  assert.equal(ran, 1);
});

/** The two ends of a transport that delivers a message before `post` returns. */
function direct() {
  /** @type {any[]} */
  const ends = [0, 1].map((at) => ({
    post: (/** @type {any} */ envelope) => ends[1 - at].onmessage?.(envelope),
    close() {},
  }));
  return ends;
}

test('no handler starts on the stack of another, however that handler calls, reports or cancels', async () => {
  const host = await newHost(WITHOUT_LIMITS);
  const abp = await inPage(host);
  /** @type {string[]} */
  const running = [];
  /** @type {string[]} */
  const nested = [];
  /** @type {(name: string, work: (context: any) => unknown, options?: object) => void} */
  const offer = (name, work, options = {}) =>
    host.register(name, options, (_, context) => {
      nested.push(...running.map((outer) => `${name} on ${outer}`));
      running.push(name);
      try {
        return work(context);
      } finally {
        running.pop();
      }
    });
  offer('inner', () => 1);
  offer('child call', ({ call }) => call('inner'));
  offer('call of the page', () => abp.call('inner'));
  offer('call that is called off', ({ callId }) => {
    const made = abp.call('inner');
    void abp.cancel(callId);
    return made;
  });
  offer('report', ({ progress }) => {
    void abp.call('inner');
    progress({ progress: 1, total: 1 });
  });
  offer('slot', ({ call, progress }) => {
    progress({ progress: 1, total: 2 });
    return call('inner');
  }, { concurrency: 1 });
  for (const name of ['child call', 'call of the page', 'call that is called off', 'report', 'slot']) await Promise.all([1, 2, 3].map(() => abp.call(name)));
  assert.deepEqual(nested, []);
});
