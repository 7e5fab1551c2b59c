import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inPage, newHost } from './host.mjs';

/** Each with what is said of it. @type {Record<string, [any, RegExp]>} */
const senseless = {
  'a type there is not': [{ properties: { a: { type: 'integr' } } }, /#\/properties\/a: there is no type "integr"/],
  'one of several types': [{ type: ['object', 'nothing'] }, /there is no type "nothing"/],
  'a bad pattern': [{ properties: { a: { pattern: '[' } } }, /#\/properties\/a: pattern must be a regular expression/],
  'a bad name of a pattern': [{ patternProperties: { '(': true } }, /#: not a regular expression: \(/],
  'required that is no list': [{ properties: { a: { required: true } } }, /required must be a list of names/],
  'properties that are no schemas': [{ properties: { a: 'string' } }, /#\/properties\/a: a schema must be an object, true or false/],
  'properties that are a list': [{ properties: [] }, /properties must be an object of schemas/],
  'alternatives that are no list': [{ anyOf: { type: 'object' } }, /anyOf must be a list of schemas/],
  'a bad schema of elements': [{ properties: { a: { items: { type: 7 } } } }, /#\/properties\/a\/items: there is no type 7/],
  'an enum that is no list': [{ properties: { a: { enum: 'x' } } }, /enum must be a list/],
  'a schema of another Standard Schema than version 1': [{ '~standard': { version: 2, vendor: 'zod', validate() {} }, type: 'object', parse() {} }, /#: this is no JSON Schema; of zod, give z\.toJSONSchema/],
  'an object of zod among the properties': [{ properties: { a: { '~standard': { version: 1 } } } }, /#\/properties\/a: this is no JSON Schema/],
};

/** Known when the validator is there. @type {Record<string, [any, RegExp]>} */
const misled = {
  'a $ref to nowhere': [{ properties: { a: { $ref: '#/$defs/nowhere' } } }, /there is nothing at "#\/\$defs\/nowhere"/],
  'a $ref to no schema': [{ properties: { a: { $ref: '#/x' } }, x: { type: 'strng' } }, /#\/x: there is no type "strng"/],
  'a $ref to itself': [{ properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } } }, /leads to itself/],
};

test('a schema that makes no sense is refused at register, with no validator there', async () => {
  const host = await newHost();
  for (const [what, [inputSchema, said]] of Object.entries(senseless)) {
    assert.throws(() => host.register(what, { inputSchema }, () => 'ran'), { code: 'INVALID_PARAMS', message: said });
  }
  assert.deepEqual(host.documents(), []);
});

// The validator is loaded when the first of them is registered, so this comes before others.
test('a schema whose references make no sense is named as the problem of its calls', async (t) => {
  const logged = t.mock.method(console, 'error', () => {});
  const host = await newHost();
  const abp = await inPage(host);
  for (const [what, [inputSchema]] of Object.entries(misled)) host.register(what, { inputSchema }, () => 'ran');
  for (const [what, [, said]] of Object.entries(misled)) {
    const { success, error } = await abp.call(what, { a: 'x' });
    assert.deepEqual([success, error?.code], [false, 'OPERATION_FAILED'], what);
    assert.match(error?.message ?? '', new RegExp(`^${what.replaceAll('$', '\\$')}: inputSchema is invalid: `));
    assert.match(error?.message ?? '', said);
  }
  assert.equal(logged.mock.callCount(), Object.keys(misled).length);
});

test('a schema that makes no sense is refused at register', async () => {
  const host = await newHost();
  for (const [what, [inputSchema, said]] of Object.entries({ ...senseless, ...misled })) {
    assert.throws(() => host.register(what, { inputSchema }, () => 'ran'), { code: 'INVALID_PARAMS', message: said });
  }
  assert.deepEqual(host.documents(), []);
});

test('schemas that make sense go on to be taken', async () => {
  const host = await newHost();
  const abp = await inPage(host);
  const inputSchema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: ['object'],
    properties: { a: { $ref: '#/$defs/name' }, b: { anyOf: [{ type: 'null' }, { $ref: '#' }] }, c: { items: [{ type: 'number' }] }, d: true },
    $defs: { name: { type: 'string', pattern: '^\\p{Lu}', 'x-note': { type: 'weird' } } },
    definitions: { old: { enum: [1, 2] } },
    additionalProperties: false,
  };
  host.register('fine', { inputSchema }, () => 'ran');
  assert.equal((await abp.call('fine', { a: 'Über', b: { a: 'X' }, c: [1] })).data, 'ran');
  assert.equal((await abp.call('fine', { a: 'x' })).error?.code, 'INVALID_PARAMS');
  assert.equal((await abp.call('fine', { b: { b: 7 } })).success, false);
});

test('all bad parameters are named, with their paths', async () => {
  const host = await newHost();
  const abp = await inPage(host);
  const inputSchema = {
    properties: {
      html: { type: 'string' },
      options: { properties: { size: { enum: ['a4', 'letter'] }, margin: { type: 'number', minimum: 0 } }, required: ['size'], additionalProperties: false },
      list: { items: { type: 'integer' }, maxItems: 3 },
      tag: { pattern: '^[a-z]+$', maxLength: 5 },
    },
    required: ['html'],
  };
  host.register('strict', { inputSchema }, () => 'ran');
  const { error } = await abp.call('strict', { options: { margin: -1, colour: 'red' }, list: [1, 'two', 3.5], tag: 'A b' });
  assert.deepEqual(error, {
    code: 'MISSING_PARAM',
    retryable: false,
    message: 'Bad parameters html: is missing; options.size: is missing; options.margin: must be at least 0; options.colour: is not a known property; list.1: must be integer, and is string; list.2: must be integer, and is number; tag: must match the pattern ^[a-z]+$',
    details: {
      path: 'html',
      errors: [
        { path: 'html', message: 'is missing' },
        { path: 'options.size', message: 'is missing' },
        { path: 'options.margin', message: 'must be at least 0' },
        { path: 'options.colour', message: 'is not a known property' },
        { path: 'list.1', message: 'must be integer, and is string' },
        { path: 'list.2', message: 'must be integer, and is number' },
        { path: 'tag', message: 'must match the pattern ^[a-z]+$' },
      ],
    },
  });
  const one = await abp.call('strict', { html: 7 });
  assert.deepEqual([one.error?.message, one.error?.code], ['Bad parameter html: must be string, and is number', 'INVALID_TYPE']);
});
