import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inPage, newHost } from './host.mjs';

/** Each with what is said of it. @type {Record<string, [any, RegExp]>} */
const senseless = {
  'a type there is not': [{ properties: { a: { type: 'integr' } } }, /#\/properties\/a: there is no type "integr"/],
  'one of several types': [{ type: ['object', 'nothing'] }, /there is no type "nothing"/],
  'a bad pattern': [{ properties: { a: { pattern: '[' } } }, /#\/properties\/a: no regular expression: "\["/],
  'a bad name of a pattern': [{ patternProperties: { '(': true } }, /no regular expression: "\("/],
  'a $ref to nowhere': [{ properties: { a: { $ref: '#/$defs/nowhere' } } }, /there is nothing at \$ref "#\/\$defs\/nowhere"/],
  'required that is no list': [{ properties: { a: { required: true } } }, /required is a list of names/],
  'properties that are no schemas': [{ properties: { a: 'string' } }, /#\/properties\/a: a schema is an object, true or false/],
  'properties that are a list': [{ properties: [] }, /properties is an object of schemas/],
  'alternatives that are no list': [{ anyOf: { type: 'object' } }, /anyOf is a list of schemas/],
  'a bad schema of elements': [{ properties: { a: { items: { type: 7 } } } }, /#\/properties\/a\/items: there is no type 7/],
  'an enum that is no list': [{ properties: { a: { enum: 'x' } } }, /enum is a list/],
};

// The validator is loaded when the first of them is registered, so this comes first.
test('a schema that makes no sense is named as the problem of its calls', async (t) => {
  const logged = t.mock.method(console, 'error', () => {});
  const host = await newHost();
  const abp = await inPage(host);
  for (const [what, [inputSchema]] of Object.entries(senseless)) host.register(what, { inputSchema }, () => 'ran');
  for (const [what, [, said]] of Object.entries(senseless)) {
    const { success, error } = await abp.call(what, { a: 'x' });
    assert.deepEqual([success, error?.code], [false, 'OPERATION_FAILED'], what);
    assert.match(error?.message ?? '', new RegExp(`^${what.replaceAll('$', '\\$')}: inputSchema makes no sense: `));
    assert.match(error?.message ?? '', said);
  }
  assert.equal(logged.mock.callCount(), Object.keys(senseless).length);
});

test('a schema that makes no sense is refused at register once the validator is there', async () => {
  const host = await newHost();
  for (const [what, [inputSchema, said]] of Object.entries(senseless)) {
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
