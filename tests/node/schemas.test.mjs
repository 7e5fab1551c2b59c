import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { inPage, newHost } from './host.mjs';

/** Senseless schemas, each with its error text. @type {Record<string, [any, RegExp]>} */
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
  'a schema of another Standard Schema than version 1': [{ '~standard': { version: 2, vendor: 'zod', validate() {} }, type: 'object', parse() {} }, /#: this is a schema of zod, and no JSON Schema: give z\.toJSONSchema/],

  'no type at all': [{ properties: { a: { type: [] } } }, /type must be a type, or a list of some/],
  'alternatives that are none': [{ anyOf: [] }, /anyOf must be a list of schemas, at least one/],
  'a length that is no number': [{ properties: { a: { minLength: '3' } } }, /#\/properties\/a: minLength must be a whole number from 0/],
  'a length below 0': [{ properties: { a: { maxItems: -1 } } }, /maxItems must be a whole number from 0/],
  'a limit of draft-04': [{ properties: { a: { minimum: 1, exclusiveMinimum: true } } }, /exclusiveMinimum must be a number/],
  'multiples of 0': [{ properties: { a: { multipleOf: 0 } } }, /multipleOf must be a number above 0/],
  'a $ref that is no text': [{ properties: { a: { $ref: 7 } } }, /\$ref must be a text/],
  'dependencies on no names': [{ dependentRequired: { a: 'b' } }, /dependentRequired must be lists of names/],
  'a $ref to nowhere': [{ properties: { a: { $ref: '#/$defs/nowhere' } } }, /there is nothing at "#\/\$defs\/nowhere"/],
  'a $ref to no anchor': [{ properties: { a: { $ref: '#nowhere' } } }, /there is nothing at "#nowhere"/],
  'a $ref to an anchor with the name of nothing': [{ properties: { a: { $ref: '#undefined' } } }, /there is nothing at "#undefined"/],
  'a $ref to a page': [{ properties: { a: { $ref: 'https://example.com/a.json' } } }, /nothing at "https:\/\/example\.com\/a\.json", and no schema is fetched/],
  'a $ref to a part of the metaschema': [{ properties: { a: { $ref: 'http://json-schema.org/draft-07/schema#/definitions/simpleTypes' } } }, /there is nothing at/],
  'a $ref that is no address': [{ properties: { a: { $ref: 'http://[' } } }, /"http:\/\/\[" is no address/],
  'a $ref in a property with the name of a keyword': [{ properties: { default: { $ref: '#/x' } } }, /there is nothing at "#\/x"/],
  'a $dynamicRef to nowhere': [{ properties: { a: { $dynamicRef: '#a' } } }, /there is nothing at "#a"/],
  'a $ref to no schema': [{ properties: { a: { $ref: '#/x' } }, x: { type: 'strng' } }, /#\/x: there is no type "strng"/],
  'a $ref to a $ref to nowhere': [{ properties: { a: { $ref: '#/x' } }, x: { $ref: '#/y' } }, /there is nothing at "#\/y"/],
  'a $ref to itself': [{ properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } } }, /leads to itself/],
  'a $dynamicRef to itself': [{ $dynamicAnchor: 'a', anyOf: [{ $dynamicRef: '#a' }] }, /leads to itself/],

  'an empty enum': [{ properties: { a: { enum: [] } } }, /#\/properties\/a: enum must be a list of at least one value/],
  'uniqueItems that is a text': [{ uniqueItems: 'yes' }, /#: uniqueItems must be true or false/],
  'uniqueItems that is null': [{ uniqueItems: null }, /uniqueItems must be true or false/],
  'the same type twice': [{ properties: { a: { type: ['string', 'string'] } } }, /type must be a type, or a list of some that differ/],
  'the same name required twice': [{ required: ['a', 'a'] }, /required must be a list of names that differ/],
  'the same dependency twice': [{ dependentRequired: { a: ['b', 'b'] } }, /dependentRequired must be lists of names that differ/],
  'the same dependency twice, in draft-07': [{ dependencies: { a: ['b', 'b'] } }, /#\/dependencies\/a: a schema must be an object/],
  'a title that is no text': [{ properties: { a: { title: 7 } } }, /title must be a text/],
  'a description that is a list': [{ description: ['a'] }, /description must be a text/],
  'a comment that is no text': [{ $comment: {} }, /\$comment must be a text/],
  'examples that are no list': [{ properties: { a: { examples: 'x' } } }, /examples must be a list/],
  'an encoding that is no text': [{ contentEncoding: 64 }, /contentEncoding must be a text/],
  'a media type that is no text': [{ contentMediaType: null }, /contentMediaType must be a text/],
  'content of no schema': [{ properties: { a: { contentSchema: { type: 'strng' } } } }, /#\/properties\/a\/contentSchema: there is no type "strng"/],
  'deprecated that is a text': [{ deprecated: 'since 2' }, /deprecated must be true or false/],
  'readOnly that is a number': [{ readOnly: 1 }, /readOnly must be true or false/],
  'writeOnly that is null': [{ writeOnly: null }, /writeOnly must be true or false/],
  'a $recursiveAnchor that is a text': [{ $recursiveAnchor: 'a' }, /\$recursiveAnchor must be true or false/],
  'a $vocabulary that is a list': [{ $vocabulary: [] }, /\$vocabulary must be an object/],
  'elements that are null': [{ items: null }, /#\/items: a schema must be an object/],
  'an anchor that is no name': [{ properties: { a: { $anchor: '#a' } } }, /\$anchor must be a name of letters, digits, - _ and \./],
  'a dynamic anchor that is empty': [{ properties: { a: { $dynamicAnchor: '' } } }, /\$dynamicAnchor must be a name/],
  'an $id with a pointer': [{ properties: { a: { $id: '#/a' } } }, /\$id must be an address without a fragment/],
  'two parts with the same $id': [{ properties: { a: { $id: 'x' }, b: { $id: 'x', type: 'string' } } }, /two parts of the schema have the name "schema:\/x"/],
  'two parts with the same anchor': [{ $defs: { a: { $anchor: 'x' }, b: { $dynamicAnchor: 'x' } } }, /two parts of the schema have the name "schema:\/#x"/],
};

/** Schemas of a library within a schema, each with its place. @type {Record<string, [any, string]>} */
const within = {
  'an object of schemas of zod, as in some MCP libraries': [{ a: z.string(), b: z.number() }, '#/a: this is a schema of zod'],
  'an object of schemas of valibot': [{ title: v.string() }, '#/title: this is a schema of valibot'],
  'an object of schemas of arktype': [{ a: type('string') }, '#/a: this is a schema of arktype'],
  'a list of schemas': [{ a: [z.string()] }, '#/a/0: this is a schema of zod'],
  'schemas in an object in an object': [{ a: { b: { c: z.string() } } }, '#/a/b/c: this is a schema of zod'],
  'a property': [{ type: 'object', properties: { a: z.string() } }, '#/properties/a: this is a schema of zod'],
  'a property of arktype, which is a function': [{ type: 'object', properties: { a: type('string') } }, '#/properties/a: this is a schema of arktype'],
  'the elements of a list': [{ properties: { a: { type: 'array', items: z.string() } } }, '#/properties/a/items: this is a schema of zod'],
  'one of several alternatives': [{ anyOf: [{ type: 'object' }, z.object({})] }, '#/anyOf/1: this is a schema of zod'],
  'all properties': [{ type: 'object', properties: z.object({}) }, '#/properties: this is a schema of zod'],
  'a schema without a vendor': [{ a: { '~standard': { version: 1, validate() {} } } }, '#/a: this is a schema of a library'],
};

test('a senseless schema is refused when it is registered, for parameters and for data', async () => {
  const host = await newHost();
  for (const [what, [schema, said]] of Object.entries(senseless)) {
    for (const which of ['inputSchema', 'outputSchema']) {
      assert.throws(() => host.register(what, { [which]: schema }, () => 'ran'), { code: 'INVALID_PARAMS', message: said }, `${which}: ${what}`);
    }
  }
  assert.deepEqual(host.documents(), []);
});

test('a schema of a library within a schema is refused with its place and what to give', async () => {
  const host = await newHost();
  for (const [what, [schema, said]] of Object.entries(within)) {
    for (const which of ['inputSchema', 'outputSchema']) {
      assert.throws(() => host.register(what, { [which]: schema }, () => 'ran'), (/** @type {any} */ { code, message }) => {
        const expected = `${what}: ${which} is invalid: ${said}, and no JSON Schema: give one such schema of all properties, as z.object({ … }), or a JSON Schema here, as z.toJSONSchema(…)`;
        assert.deepEqual([code, message], ['INVALID_PARAMS', expected]);
        return true;
      });
    }
  }
});

test('a schema without a keyword of JSON Schema causes a warning that shows how to write properties', async (t) => {
  const warned = t.mock.method(console, 'warn', () => {});
  const host = await newHost();
  const said = async (/** @type {any} */ options) => {
    host.register('a', { replace: true, ...options }, () => 1);
    await null;
    const calls = warned.mock.calls.map(({ arguments: [text] }) => String(text));
    warned.mock.resetCalls();
    return calls;
  };
  /** @type {[options: any, said: RegExp][]} */
  const odd = [
    [{ inputSchema: { a: 'string' } }, /^caphost: a: inputSchema has "a" and no keyword of JSON Schema, so everything fits it: .*\{ type: 'object', properties: \{ … \} \}/],
    [{ inputSchema: { a: { type: 'string' } } }, /inputSchema has "a"/],
    [{ outputSchema: { count: 'number' } }, /outputSchema has "count"/],
    [{ inputSchema: { properties: { a: { b: { type: 'string' } } } } }, /inputSchema\/properties\/a has "b"/],
  ];
  for (const [options, message] of odd) {
    const told = await said(options);
    assert.equal(told.length, 1, told.join());
    assert.match(told[0] ?? '', message);
  }
  for (const schema of [true, {}, { title: 'A' }, { $comment: 'x' }, { 'x-note': 1 }, { $ref: '#/$defs/a', $defs: { a: {} } }, { const: { a: 'string' } }, { properties: { a: { enum: [{ b: 1 }] } } }]) {
    assert.deepEqual(await said({ inputSchema: schema, outputSchema: schema }), []);
  }
});

/**
 * Calls a capability with a schema of `a`.
 *
 * @param {any} inputSchema
 * @param {[fine: unknown[], not: unknown[]]} values
 */
async function fitting(inputSchema, [fine, not]) {
  const host = await newHost();
  const abp = await inPage(host);
  host.register('x', { inputSchema }, () => 'ran');
  for (const a of fine) assert.equal((await abp.call('x', { a })).data, 'ran', JSON.stringify(a));
  for (const a of not) {
    const { error } = await abp.call('x', { a });
    assert.equal(error?.details?.path.split('.')[0], 'a', JSON.stringify(a));
  }
}

test('a list of anything becomes a list of texts by a $dynamicRef', () => fitting({
  properties: { a: { $ref: 'texts' } },
  $defs: {
    texts: { $id: 'texts', $ref: 'list', $defs: { item: { $dynamicAnchor: 'item', type: 'string' } } },
    list: { $id: 'list', type: 'array', items: { $dynamicRef: '#item' }, $defs: { item: { $dynamicAnchor: 'item' } } },
  },
}, [[[], ['a', 'b']], [['a', 7]]]));

test('a tree is strict in all its nodes by a $dynamicRef', () => fitting({
  properties: { a: { $ref: 'strict' } },
  $defs: {
    strict: { $id: 'strict', $dynamicAnchor: 'node', $ref: 'tree', unevaluatedProperties: false },
    tree: { $id: 'tree', $dynamicAnchor: 'node', type: 'object', properties: { value: true, nodes: { type: 'array', items: { $dynamicRef: '#node' } } } },
  },
}, [[{ nodes: [{ value: 1, nodes: [{}] }] }], [{ nodes: [{ nodes: [{ vale: 1 }] }] }, { nodes: [7] }]]));

test('the same value is checked again where a $dynamicRef has another target', () => fitting({
  properties: { a: { prefixItems: [{ $ref: 'list' }, { $ref: 'texts' }, { $ref: 'list' }] } },
  $defs: {
    texts: { $id: 'texts', $ref: 'list', $defs: { item: { $dynamicAnchor: 'item', type: 'string' } } },
    list: { $id: 'list', items: { $ref: '#/$defs/wrapped' }, $defs: { item: { $dynamicAnchor: 'item' }, wrapped: { $dynamicRef: '#item' } } },
  },
}, [[[[7], ['7'], [7]]], [[[7], [7]]]]));

test('draft-07 writes an anchor as an $id', () => fitting({
  $schema: 'http://json-schema.org/draft-07/schema#',
  properties: { a: { $ref: '#name' } },
  definitions: { name: { $id: '#name', type: 'string' } },
}, [['b'], [7]]));

test('a $ref hides its siblings in draft-07, but not in 2020-12', async () => {
  const schema = { properties: { a: { $ref: '#/definitions/name', maxLength: 1 } }, definitions: { name: { type: 'string' } } };
  await fitting({ $schema: 'http://json-schema.org/draft-07/schema#', ...schema }, [['b', 'bcd'], [7]]);
  await fitting({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema }, [['b'], ['bcd', 7]]);
  await fitting(schema, [['b'], ['bcd', 7]]);
});

for (const metaschema of ['http://json-schema.org/draft-07/schema#', 'http://json-schema.org/draft-07/schema', 'https://json-schema.org/draft/2020-12/schema']) {
  test(`a parameter may have to be a JSON Schema itself, by ${metaschema}`, () => fitting({ properties: { a: { $ref: metaschema } } }, [
    [true, {}, { type: 'object', properties: { b: { minLength: 3 } } }, { $ref: '#/nowhere' }, { b: 'c' }],
    [7, 'string', { type: 'strng' }, { properties: { b: { minLength: -1 } } }, { items: { pattern: '(' } }, { $defs: { b: { type: 1 } } }],
  ]));
}

test('an address of this machine is an url and a uri', async () => {
  for (const format of ['url', 'uri']) {
    await fitting({ properties: { a: { type: 'string', format } } }, [['http://localhost', 'http://localhost:8787/a?b#c', 'http://127.0.0.1/', 'http://[::1]/'], ['localhost', 'http://a b']]);
  }
});

test('sensible schemas are still accepted', async () => {
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
