/**
 * A page with members on `Object.prototype`, which every object of the page then has, under the names of
 * options and of messages.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { createHost } from 'caphost';
import { connectPort } from 'caphost/agent';

/** @type {Record<string, any>} */
const MEMBERS = {
  timeout: 1, transfer: [1], success: true, cancelled: true, reason: 'inherited', error: { code: 'X', message: 'inherited' }, data: 1,
  callId: 'inherited', options: { callId: 'x' }, onProgress: 1, progressToken: 'x', type: 'x', then: 1, required: ['q'], pattern: 'z+', $ref: '#/x', items: 5,
  properties: 5, description: 5, inputSchema: 5, outputSchema: 5, settleGrace: 'x', concurrency: 0, experimental: true, agent: 'x', progress: 1,
  requestedCapabilities: ['x'], agentCapabilities: 1, allowedRequests: 1, reconnect: true, grace: 1, liveness: 1, connectTimeout: 1, metadata: { stop: 'x' }, retryable: true,
  details: 1, code: 'X', maxInFlight: 0, maxDepth: 0, app: 1, replace: true, stop: 'x', words: 'x',
};

/** What happens with a host and its agents. @returns {Promise<Record<string, unknown>>} */
async function story() {
  const host = await createHost({ app: { id: 'old', name: 'Old', version: '1' } });
  const inputSchema = { type: 'object', properties: { list: { type: 'array', items: { type: 'string', pattern: '^[a-z]$' } } } };
  host.register('list', { inputSchema }, (params, { progress }) => {
    progress({ progress: 1 });
    return { list: params.list?.length };
  });
  host.register('fail', {}, () => {
    throw Object.assign(new Error('no'), { code: 'OWN', details: { a: 1 } });
  });
  /** @type {unknown} */
  let heard;
  host.register('wait', {}, (_, { signal }) => new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      heard = signal.reason?.message;
      reject(signal.reason);
    });
  }));
  const target = /** @type {any} */ ({});
  host.expose(target);
  const opened = await target.abp.initialize({ agent: { name: 'a', version: '1' }, protocolVersion: '0.1' });
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const agent = await connectPort(port2);
  /** @type {Record<string, unknown>} */
  const seen = { opened: Object.entries(opened.capabilities[0]) };
  for (const [who, call] of /** @type {[string, any][]} */ ([['page', target.abp.call], ['port', agent.call.bind(agent)]])) {
    const good = await call('list', { list: ['a', 'b'] });
    seen[`${who}: result`] = [good.success, Object.entries(good.data), Object.hasOwn(good, 'cancelled')];
    seen[`${who}: no parameters`] = (await call('list')).success;
    const bad = await call('list', { list: ['A'] });
    seen[`${who}: refused`] = [bad.success, bad.error.code, bad.error.message];
    const failed = await call('fail');
    seen[`${who}: failed`] = [failed.success, Object.hasOwn(failed, 'cancelled'), failed.error.code, failed.error.message, Object.entries(failed.error.details)];
  }
  const told = /** @type {unknown[]} */ ([]);
  await agent.call('list', {}, { onProgress: (info) => told.push(info.progress) });
  seen['progress'] = told.join();
  const waiting = agent.call('wait', {}, { callId: 'own' });
  const cancel = await agent.cancel('own');
  const ended = await waiting;
  seen['cancel'] = [Object.entries(cancel).map(([key, value]) => [key, typeof value === 'object' ? Object.entries(value) : value]), heard];
  seen['cancelled'] = [ended.success, ended.cancelled];
  seen['invoke'] = await agent.invoke('fail').catch((error) => [error.name, error.code]);
  seen['timeout'] = (await agent.call('wait', {}, { timeout: 20 })).cancelled;
  seen['listed'] = (await agent.listCapabilities()).map((it) => Object.keys(it).join());
  await agent.shutdown();
  host.close();
  return seen;
}

describe('a page in which every object has a member', async () => {
  const usual = await story();
  for (const [name, value] of Object.entries(MEMBERS)) {
    test(`"${name}", makes no call another one`, async () => {
      Object.defineProperty(Object.prototype, name, { value, enumerable: true, writable: true, configurable: true });
      let seen;
      try {
        seen = await story();
      } finally {
        delete (/** @type {any} */ (Object.prototype)[name]);
      }
      assert.deepEqual(seen, usual);
    });
  }
});

test('the package loads in a page with values that for…in finds in every object, and with an old `watch`', () => {
  const script = `
    Object.prototype.extra = 'text';
    Object.prototype.list = [1];
    Object.prototype.watch = function (name, handler) {
      let value = this[name];
      if (delete this[name]) Object.defineProperty(this, name, { get: () => value, set: (next) => (value = handler.call(this, name, value, next)), configurable: true });
    };
    const { createHost } = await import('caphost');
    const host = await createHost({ app: { id: 'old', name: 'Old', version: '1' } });
    host.register('a', {}, (params) => Object.keys(params).length);
    const target = {};
    host.expose(target);
    await target.abp.initialize({ agent: { name: 'a', version: '1' }, protocolVersion: '0.1' });
    console.log((await target.abp.call('a', { one: 1 })).data);
    host.close();`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', timeout: 20_000 });
  assert.equal(stdout.trim(), '1', stderr);
});
