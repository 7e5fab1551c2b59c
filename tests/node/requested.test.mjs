import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connectPort } from 'caphost/agent';
import { runInitializeVector, vectors } from '../e2e/support/initialize-vectors.mjs';
import { wireDriver } from '../e2e/support/wire-driver.mjs';
import { newHost } from './host.mjs';

/** A plain agent over a port, without a session. @param {import('caphost').Host} host */
function plainOn(host) {
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  after(() => port2.close());
  const post = (/** @type {any} */ envelope) => port2.postMessage(envelope);
  const driver = wireDriver(post);
  port2.onmessage = ({ data }) => driver.receive(data);
  return { ...driver, post };
}

for (const vector of vectors) {
  test(`over a port: ${vector.name}`, async () => {
    const host = await newHost();
    await runInitializeVector(vector, host, plainOn(host));
  });
}

/** `window.abp` of a host, as an agent of envelopes. @param {import('caphost').Host} host */
function inPageOf(host) {
  /** @type {any[]} */
  const unasked = [];
  /** @type {Map<string, (answer: any) => void>} */
  const questions = new Map();
  /** @type {any} */
  const target = {
    __abp_notification: (/** @type {any} */ payload) => void unasked.push({ type: 'notification', payload }),
    __abp_capabilities_changed: (/** @type {any} */ data) => void unasked.push({ type: 'notification', payload: { event: 'notifications/capabilities/list_changed', data } }),
    __abp_elicitation: (/** @type {any} */ { id, ...payload }) => new Promise((resolve) => {
      questions.set(id, resolve);
      unasked.push({ type: 'elicitation/request', id, payload });
    }),
  };
  host.expose(target);
  const { abp } = target;
  /** @param {string} type @param {any} payload @returns {Promise<any>} */
  const request = async (type, payload) => {
    if (type === 'initialize') return abp.initialize(payload).catch((/** @type {any} */ error) => ({ error }));
    if (type === 'capabilities/call') return abp.call(payload.capability, payload.params);
    return { capabilities: await abp.listCapabilities() };
  };
  return { request, unasked, abp, post: (/** @type {any} */ { id, payload }) => questions.get(id)?.(payload) };
}

for (const vector of vectors) {
  test(`in the page: ${vector.name}`, async () => {
    const host = await newHost();
    await runInitializeVector(vector, host, inPageOf(host));
  });
}

test('in the page, capabilities that were not requested are neither described nor supported', async () => {
  const host = await newHost();
  host.register('one', {}, () => 1);
  host.register('other', {}, () => 1);
  const { request, abp } = inPageOf(host);
  assert.equal((await abp.supports('other')).supported, true);
  await request('initialize', { agent: { name: 'a', version: '1' }, protocolVersion: '0.1', requestedCapabilities: ['one'] });
  assert.deepEqual([(await abp.supports('one')).supported, (await abp.supports('other')).supported], [true, false]);
  assert.deepEqual([(await abp.describeCapability('one')).name, await abp.describeCapability('other')], ['one', null]);
  await abp.shutdown();
  assert.equal((await abp.describeCapability('other')).name, 'other');
});

test('an agent of this package requests and allows by its options', async () => {
  const host = await newHost();
  host.register('one', {}, (_, { elicit }) => elicit({ method: 'elicitation/input' }));
  host.register('other', {}, () => 1);
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  let asked = 0;
  const onElicitation = () => (asked += 1);
  const agent = await connectPort(port2, { requestedCapabilities: ['one'], allowedRequests: [], onElicitation });
  assert.deepEqual(agent.capabilities.map(({ name }) => name), ['one']);
  assert.equal((await agent.call('other')).error?.code, 'UNKNOWN_CAPABILITY');
  assert.equal((await agent.call('one')).data.error.code, 'NOT_SUPPORTED');
  assert.equal(asked, 0);
  await agent.shutdown();
  await assert.rejects(connectPort(port2, { requestedCapabilities: /** @type {any} */ ('one') }), { code: 'INVALID_PARAMS', message: /^Bad requestedCapabilities: it is an array of names/ });
  await assert.rejects(connectPort(port2, { allowedRequests: /** @type {any} */ ([1]) }), { code: 'INVALID_PARAMS', message: /^Bad agentCapabilities.allowedRequests: it is an array of names/ });
  port2.close();
});

test('a list that is too long to expand is refused without expanding it', async () => {
  const host = await newHost();
  const agent = plainOn(host);
  const initialize = { agent: { name: 'a', version: '1' }, protocolVersion: '0.1' };
  const began = performance.now();
  for (const list of [new Array(2 ** 32 - 1), Array(4_097).fill('a')]) {
    assert.equal((await agent.request('initialize', { ...initialize, requestedCapabilities: list })).error.details.path, 'requestedCapabilities');
  }
  assert.ok(performance.now() - began < 1_000);
  assert.equal((await agent.request('initialize', { ...initialize, requestedCapabilities: Array(4_096).fill('a') })).capabilities.length, 0);
});
