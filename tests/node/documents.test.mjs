import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inPage, newHost } from './host.mjs';

test('documents of capabilities are copies: neither the app nor a receiver can change the manifest', async () => {
  const host = await newHost();
  const inputSchema = { type: 'object', properties: { a: { type: 'string' } } };
  host.register('x', { description: 'x', inputSchema }, (params) => params);
  const abp = await inPage(host);
  const before = JSON.stringify(host.manifest());
  const edit = (/** @type {() => void} */ work) => {
    try {
      work();
    } catch (error) {
      assert.ok(error instanceof TypeError);
    }
  };
  const [listed] = await abp.listCapabilities();
  const described = await abp.describeCapability('x');
  for (const document of [listed, described, host.documents()[0], host.manifest().capabilities[0]]) {
    edit(() => (/** @type {any} */ (document).description = 'edited'));
    edit(() => (/** @type {any} */ (document).inputSchema.properties.a.type = 'number'));
  }
  edit(() => (/** @type {any} */ (abp.app).name = 'edited'));
  inputSchema.properties.a.type = 'number';
  assert.equal(JSON.stringify(host.manifest()), before);
  assert.equal((await abp.call('x', { a: 7 })).error?.code, 'INVALID_TYPE');
});

test('a function in a description is refused at register, and the list of tools is answered', async () => {
  const host = await newHost();
  const odd = [{ inputSchema: { type: 'object', check() {} } }, { outputSchema: { examples: [() => {}] } }, { features: { it: Symbol('s') } }];
  for (const description of odd) {
    assert.throws(() => host.register('odd', /** @type {any} */ (description), () => 1), { code: 'INVALID_PARAMS', message: /^odd: the description is not valid JSON: .* is a (function|symbol)/ });
  }
  host.register('fine', {}, () => 1);
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  port2.postMessage({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
  const { result } = await new Promise((resolve) => (port2.onmessage = ({ data }) => data.id === 1 && resolve(data)));
  assert.deepEqual(result.tools.map((/** @type {any} */ it) => it.name), ['fine']);
  port2.close();
});

test('the handler gets exactly the parameters that passed the schema from window.abp.call', async () => {
  const host = await newHost();
  const inputSchema = { type: 'object', properties: { list: { type: 'array', items: { type: 'number' } }, a: { type: 'string' } } };
  host.register('once', { inputSchema, concurrency: 1 }, async (params) => params);
  const abp = await inPage(host);
  await abp.call('once');
  /** @type {any} */
  const params = { list: [1], a: 'x' };
  const flat = { a: 'x' };
  const calls = [abp.call('once', params), abp.call('once', flat), abp.call('once', params, { signal: new AbortController().signal })];
  params.list.push('two');
  params.a = flat.a = /** @type {any} */ (7);
  const answers = await Promise.all(calls);
  assert.deepEqual(answers.map((it) => it.data), [{ list: [1], a: 'x' }, { a: 'x' }, { list: [1], a: 'x' }]);
});

test('parameters that cannot be copied are refused by window.abp.call', async () => {
  const host = await newHost();
  host.register('echo', {}, (params) => params);
  const abp = await inPage(host);
  const { success, error } = await abp.call('echo', { it: new WeakMap() });
  assert.deepEqual([success, error?.code], [false, 'INVALID_PARAMS']);
  const { readable } = new TransformStream();
  const moved = await abp.call('echo', { readable });
  assert.ok(moved.data.readable instanceof ReadableStream);
  // An open stream that was moved keeps Node running.
  await moved.data.readable.cancel();
});
