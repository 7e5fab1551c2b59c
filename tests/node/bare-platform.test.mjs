/** Imitations of a browser and pages that lack functions of the platform, or have replaced them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spawnSync } from 'node:child_process';
import { createHost } from 'caphost';
import { connectPort } from 'caphost/agent';
import { toText } from '../../src/web/js/json.js';

/** Runs with a global that is replaced, or missing. @param {string} name @param {unknown} value @param {() => unknown} work */
async function having(name, value, work) {
  const before = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(globalThis, name));
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  try {
    return await work();
  } finally {
    Object.defineProperty(globalThis, name, before);
  }
}

/** @param {(params: any) => unknown} handler @param {object} [params] */
async function callOf(handler, params) {
  const host = await createHost({ app: { id: 'bare', name: 'Bare', version: '1' } });
  host.register('run', {}, handler);
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const agent = await connectPort(port2);
  const response = await agent.call('run', params);
  await agent.shutdown();
  host.close();
  return response;
}

test('without structuredClone, an error keeps its details, and parameters arrive', async () => {
  await having('structuredClone', undefined, async () => {
    const failed = await callOf(() => {
      throw Object.assign(new Error('no'), { code: 'OWN', retryable: true, details: { when: [new Date(5)], map: new Map([['a', 1]]) } });
    });
    assert.deepEqual(failed.error, { code: 'OWN', message: 'no', retryable: true, details: { when: [new Date(5)], map: new Map([['a', 1]]) } });
    const dated = new Map([['a', new Date(7)]]);
    assert.deepEqual((await callOf(({ dated }) => dated, { dated })).data, dated);
    const unfit = await callOf(() => {
      throw Object.assign(new Error('no'), { details: { a() {} } });
    });
    assert.deepEqual(unfit.error, { code: 'OPERATION_FAILED', message: 'no', retryable: false });
  });
});

test('without queueMicrotask, capabilities are announced', async () => {
  await having('queueMicrotask', undefined, async () => assert.deepEqual((await callOf(() => 1)).data, 1));
});

test('a clock that replaces Date changes no JSON, in either direction', async () => {
  const native = new Date(5);
  class Clock extends Date {}
  const own = new Clock(6);
  const want = '{"native":"1970-01-01T00:00:00.005Z","own":"1970-01-01T00:00:00.006Z","never":null}';
  const text = () => toText({ native, own, never: new Date(NaN) });
  assert.equal(text(), want);
  assert.equal(await having('Date', Clock, text), want);
});

test('without Date.prototype.toJSON, dates are the same JSON', () => {
  const { toJSON } = Date.prototype;
  delete (/** @type {any} */ (Date.prototype).toJSON);
  try {
    assert.equal(toText({ when: new Date(5) }), '{"when":"1970-01-01T00:00:00.005Z"}');
  } finally {
    Date.prototype.toJSON = toJSON;
  }
});

for (const [name, missing] of /** @type {const} */ ([['crypto', 'crypto'], ['crypto.getRandomValues', 'crypto = {}'], ['performance', 'performance'], ['DOMException', 'DOMException']])) {
  test(`without ${name}, making a host and connecting fail with an error that names it`, () => {
    const [global, value = 'undefined'] = missing.split(' = ');
    const script = `
      Object.defineProperty(globalThis, '${global}', { value: ${value}, configurable: true });
      const { createHost } = await import('caphost');
      const { connectPort } = await import('caphost/agent');
      const said = [];
      for (const work of [() => createHost({ app: { id: 'a', name: 'a', version: '1' } }), () => connectPort(new MessageChannel().port1)]) {
        await work().catch(({ code, message }) => said.push([code, message].join(': ')));
      }
      console.log(said.join());
      process.exit();`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', timeout: 20_000 });
    const want = `NOT_SUPPORTED: caphost needs ${name}, which is missing here`;
    assert.equal(stdout.trim(), [want, want].join(), stderr);
  });
}
