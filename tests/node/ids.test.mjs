import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connectPort } from 'caphost/agent';
import { inPage, newHost, onPort } from './host.mjs';

const version4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** More than are made at once. */
const MANY = 300;

/** A host that says which id a call has, and an agent of it on a port. */
async function hostAndAgent() {
  const host = await newHost({ maxInFlight: 10_000 });
  host.register('id', {}, (_, { callId }) => callId);
  host.register('child', {}, async (_, { callId, call }) => [callId, (await call('id')).data]);
  host.register('hold', {}, (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const agent = await connectPort(port2);
  after(() => agent.shutdown());
  return { host, agent };
}

/** @param {string[]} ids */
function areFresh(ids) {
  for (const id of ids) assert.match(id, version4);
  assert.equal(new Set(ids).size, ids.length);
}

test('the ids of calls are UUIDs of version 4, and no two are equal, whoever calls', async () => {
  const { host, agent } = await hostAndAgent();
  const abp = await inPage(host);
  const plain = onPort(host);
  await plain.initialize();
  const calls = Array.from({ length: MANY }, async () => {
    const called = await Promise.all([
      agent.call('id').then(({ data }) => data),
      agent.invoke('id'),
      abp.call('id').then(({ data }) => data),
      abp.call('id', {}, { signal: new AbortController().signal }).then(({ data }) => data),
      plain.ask('capabilities/call', { capability: 'id', params: {} }).then(({ data }) => data),
      agent.invoke('child'),
    ]);
    return called.flat();
  });
  const ids = (await Promise.all(calls)).flat();
  assert.equal(ids.length, 7 * MANY);
  areFresh(ids);
});

test('a call has one id, for its caller, its handler, and whoever cancels it', async () => {
  const { agent } = await hostAndAgent();
  const running = Array.from({ length: MANY }, () => agent.start('id'));
  areFresh(running.map(({ callId }) => callId));
  for (const { callId, result } of running) assert.equal(await result, callId);

  const held = Array.from({ length: MANY }, () => agent.start('hold'));
  for (const { callId } of held.toReversed()) assert.equal((await agent.cancel(callId)).cancelled, true);
  for (const { result, callId } of held) await assert.rejects(result, { name: 'AbortError', callId });
});

test('calls that are made while the parameters of another are read do not take its id', async () => {
  const { agent } = await hostAndAgent();
  /** @type {import('caphost/agent').RunningCall[]} */
  const inner = [];
  const params = {
    get first() {
      while (inner.length < MANY) inner.push(agent.start('id'));
      return 1;
    },
  };
  const outer = agent.start('id', params);
  assert.equal(inner.length, MANY);
  areFresh([outer, ...inner].map(({ callId }) => callId));
  for (const { callId, result } of [outer, ...inner]) assert.equal(await result, callId);
});

test('a call that cannot be made has an id too, which names no call', async () => {
  const { agent } = await hostAndAgent();
  const call = agent.start(/** @type {any} */ (5));
  assert.match(call.callId, version4);
  await assert.rejects(call.result, { code: 'INVALID_PARAMS' });
  const { cancelled, reason } = await call.cancel();
  assert.deepEqual({ cancelled, reason }, { cancelled: false, reason: 'Operation not found' });
});

test('ids are drawn many at once, and need no page that is secure', async (t) => {
  const { agent } = await hostAndAgent();
  Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true });
  const draw = t.mock.method(crypto, 'getRandomValues');
  t.after(() => Reflect.deleteProperty(crypto, 'randomUUID'));
  const ids = await Promise.all(Array.from({ length: MANY }, () => agent.invoke('id')));
  areFresh(ids);
  assert.ok(draw.mock.callCount() < MANY / 20, `drawn ${draw.mock.callCount()} times`);
});
