import assert from 'node:assert/strict';
import { test } from 'node:test';

/** The memory of the package's module, once it is loaded. @type {WebAssembly.Memory | undefined} */
let memory;
const { instantiate } = WebAssembly;
WebAssembly.instantiate = /** @type {any} */ (async (/** @type {any[]} */ ...args) => {
  const result = /** @type {any} */ (await Reflect.apply(instantiate, WebAssembly, args));
  memory = /** @type {any} */ (Object.values(result.instance.exports).find((it) => it instanceof WebAssembly.Memory));
  return result;
});
const { inPage, newHost, onPort } = await import('./host.mjs');

test('names of 16 MB are not copied into the memory of wasm, nor echoed', async () => {
  const host = await newHost();
  host.register('fail', {}, () => {
    throw new Error(long);
  });
  const long = 'x'.repeat(15e6);
  const abp = await inPage(host);
  const agent = onPort(host);
  const before = /** @type {WebAssembly.Memory} */ (memory).buffer.byteLength;
  const answers = [
    await agent.ask('initialize', { agent: { name: long, version: '1' }, protocolVersion: '0.1', features: {} }),
    await agent.ask('capabilities/call', { capability: long }),
    await agent.ask('capabilities/call', { capability: 'fail', callId: long }),
    await agent.ask('capabilities/call', { capability: 'fail', options: { callId: long } }),
    await agent.ask('capabilities/call', { capability: 'fail' }),
    await agent.ask('capabilities/cancel', { callId: long }),
    await agent.ask('capabilities/cancel', { callId: 'no', reason: long }),
    await abp.call(long),
    await abp.supports(long),
    await abp.cancel(long),
    await abp.cancel('no', long),
    await agent.ask('shutdown', { reason: long }),
  ];
  const grown = /** @type {WebAssembly.Memory} */ (memory).buffer.byteLength - before;
  assert.ok(grown < 2 ** 20, `${grown} bytes`);
  for (const answer of answers) assert.ok(JSON.stringify(answer).length < 2 ** 17, JSON.stringify(answer).slice(0, 100));
  const codes = answers.map((it) => it.error?.code);
  const invalid = 'INVALID_PARAMS';
  assert.deepEqual(codes, [
    undefined, 'UNKNOWN_CAPABILITY', invalid, invalid, 'OPERATION_FAILED', invalid, undefined,
    'UNKNOWN_CAPABILITY', undefined, invalid, undefined, undefined,
  ]);
});
