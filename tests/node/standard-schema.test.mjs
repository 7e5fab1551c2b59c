import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Validator } from '@cfworker/json-schema';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { inPage, newHost } from './host.mjs';

/** The same schema in each library. @type {Record<string, import('caphost').StandardSchema>} */
const libraries = {
  zod: z.object({ urls: z.array(z.string()), depth: z.number().default(1) }),
  valibot: toStandardJsonSchema(v.object({ urls: v.array(v.string()), depth: v.optional(v.number(), 1) })),
  arktype: type({ urls: 'string[]', depth: 'number = 1' }),
};

for (const [library, inputSchema] of Object.entries(libraries)) {
  test(`a schema of ${library} checks the parameters, and describes them to agents`, async (t) => {
    const warn = t.mock.method(console, 'warn', () => {});
    const host = await newHost();
    let ran = 0;
    host.register('x', { inputSchema }, (params) => {
      ran += 1;
      return params;
    });
    const abp = await inPage(host);
    // The schema has filled in the default.
    assert.deepEqual((await abp.call('x', { urls: ['/a'] })).data, { urls: ['/a'], depth: 1 });
    assert.equal(ran, 1);

    const refused = await abp.call('x', { urls: ['/a', 7] });
    assert.equal(refused.error?.code, 'INVALID_PARAMS');
    assert.match(refused.error?.message ?? '', /^Bad parameter urls\.1: .*string/);
    assert.equal(refused.error?.details.path, 'urls.1');
    assert.deepEqual(refused.error?.details.errors.map((/** @type {any} */ it) => it.path), ['urls.1']);
    const both = await abp.call('x', { urls: 'a', depth: 'deep' });
    assert.deepEqual(both.error?.details.errors.map((/** @type {any} */ it) => it.path).sort(), ['depth', 'urls']);
    assert.equal(ran, 1);

    const { inputSchema: told } = /** @type {any} */ (await abp.describeCapability('x'));
    assert.deepEqual([told.type, told.properties.urls, told.required], ['object', { type: 'array', items: { type: 'string' } }, ['urls']]);
    assert.deepEqual(host.manifest().capabilities[0]?.inputSchema, told);
    assert.equal(warn.mock.callCount(), 0);

    assert.equal(host.unregister('x'), true);
    host.register('x', {}, (params) => params);
    assert.deepEqual((await abp.call('x', { urls: 7 })).data, { urls: 7 });
  });
}

test('an asynchronous check is awaited, and can be cancelled meanwhile', async () => {
  const host = await newHost();
  let ran = 0;
  /** @type {(free: boolean) => void} */
  let decide = () => {};
  const free = (/** @type {string} */ name) => new Promise((/** @type {(free: boolean) => void} */ resolve) => (decide = resolve)).then((is) => is && name !== 'x');
  host.register('claim', { inputSchema: z.object({ name: z.string().refine(free, 'It is taken').transform((it) => it.toUpperCase()) }) }, ({ name }) => {
    ran += 1;
    return name;
  });
  const abp = await inPage(host);
  const settled = () => new Promise((resolve) => setTimeout(resolve, 10));
  const first = abp.call('claim', { name: 'a' });
  await settled();
  decide(true);
  assert.equal((await first).data, 'A');
  const second = abp.call('claim', { name: 'a' });
  await settled();
  decide(false);
  assert.equal((await second).error?.message, 'Bad parameter name: It is taken');
  const third = abp.call('claim', { name: 'a' }, { callId: 'third' });
  await settled();
  assert.deepEqual(await abp.cancel('third'), { callId: 'third', cancelled: true, metadata: { stop: 'never-started' } });
  decide(true);
  await settled();
  assert.equal((await third).cancelled, true);
  assert.equal(ran, 1);
});

test('a check that throws refuses the call, and the next call is checked as usual', async () => {
  const host = await newHost();
  const fails = z.object({ n: z.number().refine((n) => {
    if (n === 0) throw new Error('Division by zero');
    return true;
  }) });
  host.register('x', { inputSchema: fails }, ({ n }) => 1 / n);
  const abp = await inPage(host);
  assert.deepEqual((await abp.call('x', { n: 0 })).error?.message, 'The parameters cannot be checked: Division by zero');
  assert.equal((await abp.call('x', { n: 2 })).data, 0.5);
});

test('if a library makes no JSON Schema, the app is told, and the parameters are still checked', async (t) => {
  const warn = t.mock.method(console, 'warn', () => {});
  const host = await newHost();
  host.register('plain', { inputSchema: v.object({ n: v.number() }) }, ({ n }) => n);
  host.register('date', { inputSchema: z.object({ on: z.date() }), outputSchema: z.date() }, ({ on }) => on);
  await undefined; // the console message comes last
  const said = warn.mock.calls.map(({ arguments: [message] }) => message);
  assert.equal(said.length, 3);
  assert.match(said[0], /^caphost: plain: inputSchema: agents are not told what it says, because its library gives no JSON Schema$/);
  assert.match(said[1], /^caphost: date: inputSchema: .*Date cannot be represented/);
  assert.match(said[2], /^caphost: date: outputSchema: /);
  const abp = await inPage(host);
  assert.deepEqual((await abp.describeCapability('plain'))?.inputSchema, { type: 'object' });
  assert.equal((await abp.call('plain', { n: 'x' })).error?.details.path, 'n');
  assert.equal((await abp.call('plain', { n: 1 })).data, 1);
});

test('if a handler returns an extra field, or relies on a default, the agent gets data that fits the listed schema', async () => {
  const host = await newHost();
  const outputSchema = z.object({ words: z.number(), unit: z.string().default('words') });
  const returned = /** @type {{ words: number }} */ (/** @type {unknown} */ ({ words: 2, took: 5 }));
  host.register('now', { outputSchema }, () => returned);
  host.register('later', { outputSchema }, async () => returned);
  host.register('slow', { outputSchema: outputSchema.refine(async () => true) }, () => returned);
  const abp = await inPage(host);
  for (const name of ['now', 'later', 'slow']) {
    const { data } = await abp.call(name);
    assert.deepEqual(data, { words: 2, unit: 'words' }, name);
    const listed = structuredClone(/** @type {any} */ (await abp.describeCapability(name)).outputSchema); // the checker modifies the schema
    assert.deepEqual(new Validator(listed, '2020-12').validate(data).errors, []);
  }
});

test('an answer that breaks its outputSchema fails the call, and the console of the app says so', async (t) => {
  const error = t.mock.method(console, 'error', () => {});
  const host = await newHost();
  const outputSchema = z.object({ words: z.number() });
  const wrong = /** @type {any} */ ({ words: 'two' });
  host.register('now', { outputSchema }, () => wrong);
  host.register('later', { outputSchema }, async () => wrong);
  const abp = await inPage(host);
  for (const name of ['now', 'later']) {
    const answer = await abp.call(name);
    assert.equal(answer.success, false);
    assert.equal(answer.error?.code, 'OPERATION_FAILED');
    assert.match(answer.error?.message ?? '', new RegExp(`^The answer of ${name} breaks its outputSchema: words: .*number`));
    assert.deepEqual(error.mock.calls.at(-1)?.arguments, [`caphost: ${answer.error?.message}`]);
  }
  assert.equal(error.mock.callCount(), 2);
});

test('an outputSchema is for agents to read', async () => {
  const host = await newHost();
  host.register('x', { outputSchema: z.object({ n: z.number() }) }, () => ({ n: 1 }));
  const abp = await inPage(host);
  assert.equal(Object((await abp.describeCapability('x'))?.outputSchema).properties.n.type, 'number');
  assert.deepEqual((await abp.call('x')).data, { n: 1 });
});

test('an object that only looks like a Standard Schema is refused', async () => {
  const host = await newHost();
  for (const inputSchema of [{ '~standard': { version: 2, validate() {} } }, { parse() {} }]) {
    assert.throws(() => host.register('x', { inputSchema }, () => 1), { name: 'CapHostError', code: 'INVALID_PARAMS', message: /^x: / });
  }
});
