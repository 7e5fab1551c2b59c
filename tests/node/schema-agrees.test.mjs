/** Compares the validator with another one, on random schemas and values. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Validator } from '@cfworker/json-schema';
import { compile } from '../../src/web/js/schema/compile.js';
import { examine } from '../../src/web/js/schema/examine.js';
import { Expressions } from '../../src/web/js/schema/expressions.js';
import { formats } from '../../src/web/js/schema/formats.js';
import { LinearPattern } from '../../src/web/js/schema/linear.js';
import { resolve } from '../../src/web/js/schema/references.js';

/** Random numbers, the same in every run. @param {number} seed */
function chance(seed) {
  let state = seed;
  const next = () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
  const below = (/** @type {number} */ most) => Math.floor(next() * most);
  /** @template T @param {T[]} list @returns {T} */
  const one = (list) => /** @type {T} */ (list[below(list.length)]);
  return { below, one, some: (/** @type {number} */ most, /** @type {() => any} */ make) => Array.from({ length: below(most + 1) }, make) };
}

const NAMES = ['a', 'b', 'ab', 'x'];
const TEXTS = ['', 'a', 'ab', 'abc', 'x1', '2024-02-29', 'http://a.de/', '💡'];

/** @param {ReturnType<typeof chance>} by @param {number} depth @returns {any} */
function value(by, depth) {
  const kind = by.below(depth > 0 ? 7 : 5);
  if (kind === 5) return by.some(4, () => value(by, depth - 1));
  if (kind === 6) return Object.fromEntries(by.some(4, () => [by.one(NAMES), value(by, depth - 1)]));
  return by.one([null, by.below(2) === 1, by.below(5), by.below(40) / 10, by.one(TEXTS)]);
}

/** @param {ReturnType<typeof chance>} by @param {number} depth @returns {any} */
function schema(by, depth) {
  if (depth === 0 || by.below(8) === 0) return by.one([true, { type: by.one(['null', 'boolean', 'number', 'integer', 'string', 'array', 'object']) }, { $ref: '#/$defs/a' }]);
  const inner = () => schema(by, depth - 1);
  const named = () => Object.fromEntries(by.some(3, () => [by.one(NAMES), inner()]));
  const list = () => [inner(), ...by.some(2, inner)];
  const different = (/** @type {string[]} */ them) => [...new Set(them)];
  /** @type {Record<string, () => any>} */
  const keywords = {
    type: () => different(by.some(3, () => by.one(['null', 'boolean', 'number', 'integer', 'string', 'array', 'object']))),
    const: () => value(by, 2), enum: () => [value(by, 2), ...by.some(2, () => value(by, 2))],
    minimum: () => by.below(4), maximum: () => by.below(4), exclusiveMinimum: () => by.below(4), exclusiveMaximum: () => by.below(4), multipleOf: () => by.one([1, 0.1, 0.3, 2]),
    minLength: () => by.below(4), maxLength: () => by.below(4), pattern: () => by.one(['^a', 'b$', '^(a|b)*$', '[^a]', '\\d']), format: () => by.one(['date', 'url']),
    minItems: () => by.below(3), maxItems: () => by.below(4), uniqueItems: () => true, items: inner, prefixItems: list, contains: inner,
    minProperties: () => by.below(3), maxProperties: () => by.below(4), required: () => different(by.some(2, () => by.one(NAMES))), properties: named, additionalProperties: inner, propertyNames: inner,
    patternProperties: () => ({ [by.one(['^a', 'b'])]: inner() }), dependentRequired: () => ({ [by.one(NAMES)]: [by.one(NAMES)] }), dependentSchemas: named,
    allOf: list, anyOf: list, oneOf: list, not: inner, if: inner, then: inner, else: inner, $ref: () => '#/$defs/a',
  };
  const chosen = by.some(4, () => by.one(Object.keys(keywords)));
  return Object.fromEntries(chosen.map((keyword) => [keyword, /** @type {() => any} */ (keywords[keyword])()]));
}

test('on thousands of values', () => {
  const by = chance(7);
  let [fit, not] = [0, 0];
  for (let round = 0; round < 2_000; round += 1) {
    // A reference inside the schema could lead to itself.
    const root = { properties: { a: schema(by, 3) }, ...schema(by, 3), $defs: { a: { type: ['string', 'number', 'array'], items: { $ref: '#/$defs/a' } } } };
    if (JSON.stringify(root).includes('"type":[]')) continue;
    examine(root);
    const { check } = compile(root, resolve(root), examine);
    const other = new Validator(structuredClone(root), '2020-12');
    for (let at = 0; at < 12; at += 1) {
      const it = value(by, 3);
      const ours = check(it) === null;
      assert.equal(ours, other.validate(it).valid, `${JSON.stringify(root)} of ${JSON.stringify(it)}`);
      if (ours) fit += 1;
      else not += 1;
    }
  }
  assert.ok(fit > 2_000 && not > 2_000, `${fit} fit, ${not} do not`);
});

test('patterns match where those of the browser do', () => {
  const by = chance(11);
  const atoms = ['a', 'b', '.', '[ab]', '[^a]', '\\d', '\\w', '\\p{Lu}', '^', '$', '\\b', '\\B', '💡', '\\u{61}', '\\x62', '\\ud83d\\udca1', '[💡-💥]'];
  const pattern = (/** @type {number} */ depth) => {
    const row = () => by.some(3, () => {
      const atom = depth > 0 && by.below(3) === 0 ? by.one(['(', '(?:']) : '';
      const inner = atom ? `${atom}${pattern(depth - 1)})` : by.one(atoms);
      const repeats = by.one(['', '', '*', '+', '?', '{2}', '{1,2}', '{0,}', '*?', '+?']);
      return /^(?:[$^]|\\[bB])$/.test(inner) ? inner : inner + repeats;
    }).join('');
    return by.some(2, row).concat(row()).join('|');
  };
  let matched = 0;
  for (let round = 0; round < 3_000; round += 1) {
    const source = pattern(2);
    const linear = LinearPattern.of(source);
    assert.ok(linear, source);
    for (let at = 0; at < 8; at += 1) {
      const text = by.some(7, () => by.one(['a', 'b', 'A', '1', ' ', '💡', '\n', '\ud83d', '-'])).join('');
      // V8 also finds a position that is no word boundary in the middle of a character.
      if (source.includes('\\B') && text.includes('💡')) continue;
      const expected = new RegExp(source, 'u').test(text);
      assert.equal(linear.test(text), expected, `${source} of ${JSON.stringify(text)}`);
      if (expected) matched += 1;
    }
  }
  assert.ok(matched > 2_000);
});

test('formats accept what they should', () => {
  /** @type {Record<string, [fine: string[], not: string[]]>} */
  const texts = {
    date: [['2024-02-29'], ['2023-02-29', '2024-13-01', '2024-1-1', '']],
    time: [['12:00:00Z', '23:59:60Z', '08:30:06.283185+02:00'], ['12:00:00', '24:00:00Z', '22:59:60Z']],
    'date-time': [['2024-02-29T12:00:00Z', '2024-02-29t12:00:00+01:00'], ['2024-02-29', '2024-02-30T12:00:00Z']],
    duration: [['P4DT12H30M5S', 'P1W'], ['P', 'PT', 'P1H', 'P2W3D']],
    email: [['a.b@c.de', '"a b"@c.de', 'a@[127.0.0.1]', 'a@[IPv6:::1]'], ['a', '.a@b', 'a..b@c', 'a@-b', '@b']],
    hostname: [['a', 'a-b.c1', 'x'.repeat(63)], ['-a', 'a-', 'a..b', 'x'.repeat(64), '']],
    ipv4: [['127.0.0.1'], ['127.0.0.256', '1.2.3', '1.2.3.4.5']],
    ipv6: [['::1', '1:2:3:4:5:6:7:8', '::ffff:1.2.3.4', '::'], ['1::2::3', '12345::', ':1', '1:2:3:4:5:6:7', '::1.2.3.4.5', '1:2:3:4:5:6:7::8:9']],
    uri: [['http://localhost', 'http://localhost:8787/', 'http://a.de:80/b?c#d', 'urn:a:b', 'mailto:a@b', 'http://[::1]/'], ['//a', 'a b', 'http://a b', 'http://[1]/', '%zz', 'a']],
    'uri-reference': [['/a', '#a', '../b', ''], ['\\a', '#a#b', '%']],
    'uri-template': [['a{b}', '{?c,d*}'], ['a{', '{}']],
    url: [
      ['http://a.de', 'https://user:pass@b-c.example:8080/d?e', 'https://a.de?b#c', 'ftp://1.2.3.4/', 'http://ä.ö.xy', 'http://localhost', 'http://localhost:8787/a', 'http://app.localhost', 'http://127.0.0.1:80/', 'http://[::1]:80/'],
      ['http://a', 'http://10.0.0.1', 'http://-a.de', 'javascript:a', 'http://a.de /', 'http://', 'localhost'],
    ],
    uuid: [['2eb8aa08-aa98-11ea-b4aa-73b441d16380'], ['2eb8aa08-aa98-11ea-b4aa-73b441d1638', 'x']],
    regex: [['^(a|b)$'], ['(', 'a\\Z']],
    'json-pointer': [['', '/a~1b'], ['a', '/~2']],
    'json-pointer-uri-fragment': [['#', '#/a'], ['/a']],
    'relative-json-pointer': [['0#', '1/a'], ['/a', '01']],
  };
  const checks = new Map([...formats, ['regex', (/** @type {string} */ text) => new Expressions().has(text)]]);
  assert.deepEqual(Object.keys(texts).sort(), [...checks.keys()].sort());
  for (const [format, [fine, not]] of Object.entries(texts)) {
    for (const text of fine) assert.equal(checks.get(format)?.(text), true, `${format}: ${text}`);
    for (const text of not) assert.equal(checks.get(format)?.(text), false, `${format}: ${text}`);
  }
});
