/** Every keyword of JSON Schema's versions, and some of others, with values of every kind. */
const KEYWORDS = `
  $id id $schema $ref $anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary $comment $defs definitions
  prefixItems items additionalItems contains properties patternProperties additionalProperties propertyNames unevaluatedItems unevaluatedProperties
  dependentSchemas dependentRequired dependencies if then else allOf anyOf oneOf not
  type enum const multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength pattern
  minItems maxItems uniqueItems minContains maxContains minProperties maxProperties required
  title description default deprecated readOnly writeOnly examples format contentEncoding contentMediaType contentSchema
  nullable discriminator $async $data strict`.trim().split(/\s+/);

const VALUES = [
  null, true, false, 0, -1, 1.5, 3, '', 'x', '#', '#x', '#/a', '(', '\\p{L}', '(?<a>x)\\k<a>', 'http://a.b/',
  [], ['a'], ['a', 'a'], [1], [{}], [{}, { id: 'x' }], [null],
  {}, { a: {} }, { a: true }, { a: 1 }, { a: ['a'] }, { a: ['b', 'b'] }, { '(': {} }, { type: 'strng' }, { '\\p{L}': {} }, { id: 'x' }, { $anchor: '#' },
];

/** Schemas in which several keywords matter. */
const TOGETHER = [
  { $id: 'x', properties: { a: { type: 'string' } } },
  { $id: 'x', properties: { a: { type: 'number' } } },
  { $defs: { a: { $id: 'x' }, b: { $id: 'x', type: 'string' } } },
  { $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x', type: 'string' } } },
  { properties: { a: { $ref: '#/parts/a' } }, parts: { a: { id: 'x', enum: [] } } },
  { properties: { a: { $ref: '#/anyOf/0' } }, anyOf: [{ required: ['a'] }] },
  { $schema: 'http://json-schema.org/draft-07/schema#', properties: { a: { $ref: '#a' } }, definitions: { a: { $id: '#a', type: 'string' } } },
  { $schema: 'http://json-schema.org/draft-04/schema#', id: 'http://a.b/', properties: { a: { type: 'string' } } },
  { $schema: 'https://json-schema.org/draft/2019-09/schema', $recursiveAnchor: true, properties: { a: { $recursiveRef: '#' } } },
  { not: { pattern: '\\p{L}' } },
  { patternProperties: { '\\p{L}': {} }, additionalProperties: false },
];

/** @returns {any[]} schemas of an object, with each keyword at the root and in a property */
export function oddSchemas() {
  const each = KEYWORDS.flatMap((keyword) => VALUES.flatMap((value) => [{ [keyword]: value }, { properties: { p: { [keyword]: value } } }]));
  return [...each, ...TOGETHER].map((schema) => ({ type: 'object', ...schema }));
}
