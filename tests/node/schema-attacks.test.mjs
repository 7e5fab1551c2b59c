/** Parameters that are made to keep the schema validator busy: an agent must not be able to block the page. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inPage, newHost } from './host.mjs';

/**
 * The limit, as a multiple of the time of a fixed piece of work, because processors differ, and a
 * shared one is slower. The attacks would take from twice the limit to practically forever.
 */
const QUICK = 45;
/** How many attempts there are. One quick attempt is enough. */
const TRIES = 3;

/** @param {() => unknown} work @returns {Promise<number>} milliseconds of the processor's time */
async function cost(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The fixed piece of work: it walks large values and makes small ones. */
const alwaysTheSame = () => JSON.parse(JSON.stringify(Array.from({ length: 200_000 }, (_, at) => ({ at, text: String(at) }))));
alwaysTheSame();

/**
 * Calls a capability with this schema.
 *
 * @param {any} inputSchema
 * @param {any} params
 */
async function check(inputSchema, params) {
  const host = await newHost();
  const abp = await inPage(host);
  host.register('checked', { inputSchema }, () => 'ran');
  // The validator is loaded after this.
  await abp.call('checked', {});
  for (let tries = 1; ; tries += 1) {
    const one = await cost(alwaysTheSame);
    let answer;
    const took = (await cost(async () => (answer = await abp.call('checked', params)))) / one;
    if (took >= QUICK && tries < TRIES) continue;
    assert.ok(took < QUICK, `it took ${took} times as long as work that is always the same`);
    const { success, error } = /** @type {any} */ (answer);
    return { success, code: error?.code, message: error?.message ?? '', details: error?.details };
  }
}

const property = (/** @type {any} */ schema) => ({ properties: { a: schema } });

const FORMATS = [
  'date', 'time', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uri-reference', 'uri-template', 'url', 'uuid', 'regex',
  'json-pointer', 'json-pointer-uri-fragment', 'relative-json-pointer',
];
const many = 400_000;
/** Texts that begin as a format requires, are long, and end with something that does not fit. */
const texts = [
  ...['a', 'a.', 'a-', 'a@', '::', '/', '%41', '{a', '0', '1:', '[', '('].map((it) => it.repeat(many / it.length)),
  `http://${'a-'.repeat(many / 2)}!`, `http://${'a:'.repeat(many / 2)}@`, `http://[${':'.repeat(many)}`, `"${'\\a'.repeat(many / 2)}`, `P${'1'.repeat(many)}`,
];

test('format "url" with 47 characters', async () => {
  const { code, details } = await check(property({ type: 'string', format: 'url' }), { a: `http://${'a'.repeat(40)}` });
  assert.deepEqual([code, details.path], ['INVALID_PARAMS', 'a']);
});

for (const format of FORMATS) {
  test(`format "${format}" with texts of ${many} characters`, async () => {
    const { code, message } = await check(property({ items: { anyOf: [{ format }, { type: 'null' }] } }), { a: [...texts, 7] });
    // A schema for numbers has no format.
    assert.ok(code === undefined || code === 'INVALID_PARAMS');
    assert.doesNotMatch(message, /larger/);
  });
}

test('a value that must be a JSON Schema, large, deep and full of patterns', async () => {
  const schema = property({ $ref: 'https://json-schema.org/draft/2020-12/schema' });
  const properties = (/** @type {number} */ length, /** @type {any} */ each) => ({ properties: Object.fromEntries(Array.from({ length }, (_, at) => [`p${at}`, each])) });
  assert.equal((await check(schema, { a: properties(100_000, { type: 'string' }) })).success, true);
  const long = await check(schema, { a: properties(10_000, { pattern: '\\p{L}'.repeat(100) }) });
  assert.equal(long.success, true, 'each pattern is looked at once');
  const many = await check(schema, { a: { anyOf: Array.from({ length: 10_000 }, (_, at) => ({ pattern: `\\p{L}{${at}}\\p{N}` })) } });
  assert.match(many.message, /take too long/);
  let deep = {};
  for (let depth = 0; depth < 50; depth += 1) deep = { not: deep, items: { type: 'strng' } };
  assert.match((await check(schema, { a: deep })).message, /there is no type "strng"/);
});

test('uniqueItems with objects, which are all different', async () => {
  const a = Array.from({ length: 100_000 }, (_, at) => ({ at }));
  assert.equal((await check(property({ uniqueItems: true }), { a })).success, true);
  const { message, details } = await check(property({ uniqueItems: true }), { a: [...a, { at: 7 }] });
  assert.deepEqual([message, details.path], ['Bad parameter a.100000: is equal to item 7', 'a.100000']);
});

/** Numbers with equal hashes in V8, which does not seed the hashes of numbers. @param {number} count */
function colliding(count) {
  const mask = (1n << 64n) - 1n;
  const inverse = (/** @type {bigint} */ odd) => {
    let found = 1n;
    for (let round = 0; round < 7; round += 1) found = (found * (2n - odd * found)) & mask;
    return found;
  };
  const unshift = (/** @type {bigint} */ hash, /** @type {bigint} */ by) => {
    let found = hash;
    for (let bits = by; bits < 64n; bits += by) found = hash ^ (found >> by);
    return found;
  };
  const [by65, by21, by18] = [inverse(65n), inverse(21n), inverse((1n << 18n) - 1n)];
  const bits = new DataView(new ArrayBuffer(8));
  const numbers = [];
  for (let high = 1n; numbers.length < count; high += 1n) {
    let hash = unshift((high << 30n) | 12345n, 22n);
    hash = unshift((hash * by65) & mask, 11n);
    hash = unshift((hash * by21) & mask, 31n);
    bits.setBigUint64(0, ((hash + 1n) * by18) & mask);
    const number = bits.getFloat64(0);
    if (Number.isFinite(number) && !Number.isInteger(number)) numbers.push(number);
  }
  return numbers;
}

test('uniqueItems with numbers whose hashes collide', async () => {
  const a = colliding(80_000);
  assert.equal((await check(property({ uniqueItems: true }), { a })).success, true);
  const { details } = await check(property({ uniqueItems: true }), { a: [...a, a[7]] });
  assert.equal(details.path, 'a.80000');
});

test('uniqueItems with large whole numbers whose hashes collide', async () => {
  const a = Array.from({ length: 40_000 }, (_, at) => 12_345n + (BigInt(at) << 64n));
  assert.equal((await check(property({ uniqueItems: true }), { a })).success, true);
});

test('numbers whose hashes collide, behind two references', async () => {
  const $defs = { outer: { $ref: '#/$defs/inner' }, inner: { type: 'number' } };
  assert.equal((await check({ properties: { a: { items: { $ref: '#/$defs/outer' } } }, $defs }, { a: colliding(80_000) })).success, true);
});

test('uniqueItems tells apart what is written alike', async () => {
  const a = [1, '1', 1n, true, 'true', null, 'null', 'number:1', '"1', '#0', [], ['1'], [1], [1n], [true], ['true'], {}, { 1: 1 }, { 1: '1' }];
  assert.equal((await check(property({ uniqueItems: true }), { a })).success, true);
  for (const more of [0, -0]) assert.equal((await check(property({ uniqueItems: true }), { a: [0, more] })).success, false);
});

test('multipleOf with millions of very large numbers', async () => {
  const { success } = await check(property({ items: { multipleOf: 1e-300 } }), { a: Array(3_000_000).fill(1e308) });
  assert.equal(success, true);
});

const descending = Array.from({ length: 9_900 }, (_, at) => String.fromCharCode(0xd700 - 2 * at)).join('');
for (const [kind, make] of /** @type {[string, (at: number) => string][]} */ ([
  ['many properties of characters', (at) => '\\p{L}'.repeat(1_990) + at],
  ['properties of characters in one class', (at) => `[${'\\p{L}\\p{C}'.repeat(990)}]${at}`],
  ['a class of thousands of characters, the last first', (at) => `[${descending}]${at}`],
])) {
  test(`format "regex" with texts of ${kind}`, async () => {
    const { code, message } = await check(property({ items: { format: 'regex' } }), { a: Array.from({ length: 100 }, (_, at) => make(at)) });
    assert.deepEqual([code, message], ['INVALID_PARAMS', 'The parameters take too long to check against the patterns of the schema']);
  });
}

test('format "regex" with many texts that people write', async () => {
  const a = Array.from({ length: 3_000 }, (_, at) => `^(?:[a-z0-9._-]+@|(\\d{3}-)+[A-F]|item ${at})$`);
  assert.equal((await check(property({ items: { format: 'regex' } }), { a })).success, true);
  const long = `^(${'[^a-z]+\\d*|'.repeat(800)}[\\p{L}\\p{N}]+)$`;
  assert.equal((await check(property({ items: { format: 'regex' } }), { a: [long, ...Array(1_000).fill('^\\p{Lu}\\p{L}*$')] })).success, true);
  assert.equal((await check(property({ items: { format: 'regex' } }), { a: ['a(', ...a] })).details.path, 'a.0');
});

test('uniqueItems on every level of a deep value', async () => {
  /** @type {any} */
  let a = [Array.from({ length: 100_000 }, (_, at) => at), 0];
  for (let level = 0; level < 100; level += 1) a = [a, level];
  const inputSchema = { properties: { a: { $ref: '#/$defs/list' } }, $defs: { list: { uniqueItems: true, items: { $ref: '#/$defs/list' } } } };
  assert.equal((await check(inputSchema, { a })).success, true);
});

test('millions of wrong items', async () => {
  const a = Array.from({ length: 4_000_000 }, () => 1);
  for (const items of [{ type: 'string' }, { anyOf: [{ type: 'string' }, { type: 'null' }] }, { allOf: [{ type: 'string' }] }, false]) {
    const { success, details } = await check(property({ items }), { a });
    assert.deepEqual([success, details.errors.length, details.path], [false, 16, 'a.0']);
  }
  const none = await check(property({ contains: { type: 'string' } }), { a });
  assert.deepEqual([none.success, none.details.errors.length], [false, 1]);
});

test('millions of wrong items take no memory each', async () => {
  // The heap is too small for an error per item: the process would exit with status 134.
  const checks = fileURLToPath(new URL('wrong-items.mjs', import.meta.url));
  const child = spawn(process.execPath, ['--max-old-space-size=256', checks], { stdio: ['ignore', 'inherit', 'inherit'] });
  const [status] = await once(child, 'exit');
  assert.equal(status, 0);
});

test('thousands of names that are not known, and that are missing', async () => {
  const names = Array.from({ length: 100_000 }, (_, at) => `name ${at} ${'x'.repeat(100)}`);
  const { details, message } = await check({ additionalProperties: false }, Object.fromEntries(names.map((name) => [name, 1])));
  assert.equal(details.errors.length, 16);
  assert.ok(message.length <= 1000);
  assert.equal((await check({ required: names }, {})).details.errors.length, 16);
});

const branches = (/** @type {string} */ keyword) => ({
  $ref: '#/$defs/node',
  $defs: { node: { [keyword]: ['x', 'y', 'z'].map((name) => ({ properties: { below: { $ref: '#/$defs/node' } }, required: [name] })) } },
});
for (const keyword of ['anyOf', 'oneOf']) {
  test(`${keyword} that comes to the same value by three ways on each of 120 levels`, async () => {
    let value = {};
    for (let level = 0; level < 120; level += 1) value = { below: value };
    const { success, details } = await check(branches(keyword), value);
    assert.equal(success, false);
    assert.ok(details.errors.length <= 16);
  });
}

test('if, then, not and dependentSchemas that come to the same value by several ways', async () => {
  const below = { properties: { below: { $ref: '#/$defs/node' } } };
  const node = { if: below, then: below, not: { ...below, required: ['z'] }, dependentSchemas: { below }, patternProperties: { below: { $ref: '#/$defs/node' } } };
  let value = {};
  for (let level = 0; level < 120; level += 1) value = { below: value };
  assert.equal((await check({ $ref: '#/$defs/node', $defs: { node } }, value)).success, true);
});

test('a chain of references in which each goes two ways', async () => {
  /** @type {any} */
  const $defs = { last: { type: 'string' } };
  for (let at = 0; at < 60; at += 1) {
    const $ref = `#/$defs/${at === 59 ? 'last' : `d${at + 1}`}`;
    $defs[`d${at}`] = { anyOf: [{ $ref }, { $ref }] };
  }
  for (const a of [1, {}, [1], { b: [] }]) assert.equal((await check({ properties: { a: { $ref: '#/$defs/d0' } }, $defs }, { a })).success, false);
});

const named = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`name ${at}`, 1]));
const alternatives = Array.from({ length: 1600 }, (_, at) => ({ at }));
const repeated = (/** @type {any} */ schema) => Array(1600).fill(schema);
for (const [what, schema] of /** @type {[string, any][]} */ ([
  ['enum', { enum: alternatives }],
  ['const', { anyOf: alternatives.map((it) => ({ const: it })) }],
  ['maxProperties', { anyOf: repeated({ maxProperties: 1 }) }],
  ['a reference', { allOf: [...repeated({ $ref: '#/$defs/known' }), { type: 'null' }] }],
])) {
  test(`hundreds of alternatives, each with ${what}, for one object of very many properties`, async () => {
    const { code } = await check({ ...property(schema), $defs: { known: { required: ['name 1'] } } }, { a: named });
    assert.match(code, /^INVALID_/);
  });
}

test('hundreds of lists to be equal to, for one list of very many items', async () => {
  const one = Object.assign([1], named);
  for (const a of [Array(1_000_000).fill(1), one]) {
    assert.equal((await check(property({ enum: alternatives.map((_, at) => [at + 7]) }), { a })).code, 'INVALID_PARAMS');
  }
});

const TOO_LONG = /^The parameters (take too long to check|cannot be checked: a pattern)/;
const ways = `${Array.from({ length: 260 }, (_, at) => `x${at}`).join('|')}|`;
test('a pattern of very many ways with a million empty texts', async () => {
  const { message } = await check(property({ items: { pattern: ways } }), { a: Array(1_000_000).fill('') });
  assert.match(message, TOO_LONG);
});

test('very many patterns with a million empty names', async () => {
  const patternProperties = Object.fromEntries(alternatives.map(({ at }) => [`^x${at}`, true]));
  const a = Array.from({ length: 300_000 }, () => ({ '': 1 }));
  assert.match((await check(property({ items: { patternProperties } }), { a })).message, TOO_LONG);
});

for (const [what, strict] of /** @type {[string, any][]} */ ([['unevaluatedProperties', { unevaluatedProperties: true }], ['unevaluatedItems', { unevaluatedItems: true }]])) {
  test(`${what} beside a reference that comes to the same value by three ways on each of 120 levels`, async () => {
    const below = { $ref: '#/$defs/node', ...strict };
    const node = { anyOf: ['x', 'y', 'z'].map((name) => ({ properties: { below }, required: [name] })) };
    let value = {};
    for (let level = 0; level < 120; level += 1) value = { below: value };
    assert.equal((await check({ ...below, $defs: { node } }, value)).success, false);
  });
}

test('unevaluatedProperties beside a chain of references in which each goes two ways', async () => {
  /** @type {any} */
  const $defs = { last: { properties: { b: true } } };
  for (let at = 0; at < 60; at += 1) {
    const $ref = `#/$defs/${at === 59 ? 'last' : `d${at + 1}`}`;
    $defs[`d${at}`] = { allOf: [{ $ref }, { $ref }] };
  }
  const schema = { properties: { a: { $ref: '#/$defs/d0', unevaluatedProperties: false } }, $defs };
  assert.equal((await check(schema, { a: { b: 1 } })).success, true);
  assert.deepEqual((await check(schema, { a: { b: 1, c: 1 } })).details.path, 'a.c');
});

test('a careless pattern, of a text and of names', async () => {
  const patterns = ['^(a+)+$', '^(a|a)*$', '(a*)*b', '^(a|aa)+$', '(x+x+)+y', '^([a-z]+)*[0-9]$', '(.*)*=', '^(?:a?){30}a{30}$', 'a+b'];
  for (const pattern of patterns) {
    for (const text of [`${'a'.repeat(33)}!`, `${'x'.repeat(33)}!`, `${'a'.repeat(100_000)}!`]) {
      const { success } = await check({ properties: { a: { pattern } }, patternProperties: { [pattern]: { type: 'string' } } }, { a: text, [text]: 'x' });
      assert.equal(success, new RegExp(pattern, 'u').test(text.slice(-12)), pattern);
    }
  }
});

test('a pattern that only a worker could check is refused where there is none, and warned of', async (t) => {
  const warned = t.mock.method(console, 'warn', () => {});
  const { code, message } = await check(property({ pattern: '^(?=.*b)(a+)+$' }), { a: 'a'.repeat(40) });
  assert.equal(code, 'NOT_SUPPORTED');
  assert.match(message, /worker-src blob:/);
  assert.equal(warned.mock.callCount(), 1);
  assert.match(String(warned.mock.calls[0]?.arguments[0]), /^caphost: checked: inputSchema: the pattern \^\(\?=\.\*b\)\(a\+\)\+\$ may take very long to check/);
});

test('a value nested so deep that the stack is too small', async () => {
  const host = await newHost({ maxDepth: 100_000 });
  const abp = await inPage(host);
  host.register('checked', { inputSchema: { $ref: '#/$defs/a', $defs: { a: { additionalProperties: { $ref: '#/$defs/a' } } } } }, () => 'ran');
  assert.equal((await abp.call('checked', {})).success, true);
  let value = {};
  for (let level = 0; level < 9_000; level += 1) value = { below: value };
  const { success, error } = await abp.call('checked', value);
  assert.ok(success || error?.code === 'INVALID_PARAMS', error?.message);
  assert.equal((await abp.call('checked', {})).success, true);
});
