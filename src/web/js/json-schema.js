/**
 * The one place that knows the validator: it interprets schemas, so it works under a content
 * security policy that forbids `eval`.
 */
import { Validator, dereference } from '@cfworker/json-schema';

/**
 * @param {any} schema JSON Schema 2020-12
 * @returns {import('./validators.js').Check}
 * @throws {Error} for a schema that makes no sense
 */
export function compile(schema) {
  // The validator keeps notes in it.
  const copy = structuredClone(schema);
  examine(copy, '#', dereference(copy));
  const validator = new Validator(copy, '2020-12', false);
  return (params) => {
    const { valid, errors } = validator.validate(params);
    if (valid) return null;
    // Errors come outermost first; the one that lies deepest says what is wrong.
    const depth = (/** @type {{ instanceLocation: string }} */ it) => it.instanceLocation.split('/').length;
    const wrong = errors.reduce((best, it) => (depth(it) >= depth(best) ? it : best));
    const path = wrong.instanceLocation.replace(/^#\/?/, '').replaceAll('/', '.');
    const required = /"([^"]*)"/.exec(wrong.keyword === 'required' ? wrong.error : '')?.[1];
    const at = [path, required].filter(Boolean).join('.');
    return {
      code: CODES[wrong.keyword] ?? 'INVALID_PARAMS',
      message: `Bad parameter${at ? ` ${at}` : 's'}: ${wrong.error}`,
      details: { path: at, errors: errors.slice(0, 16).map(({ error }) => error) },
    };
  };
}

/** @type {Record<string, string>} */
const CODES = { required: 'MISSING_PARAM', type: 'INVALID_TYPE' };

const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'];

/** Keywords that hold schemas: one, several, or one for each name. */
const ONE = ['additionalProperties', 'unevaluatedProperties', 'propertyNames', 'unevaluatedItems', 'contains', 'not', 'if', 'then', 'else'];
const SEVERAL = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];

/**
 * Finds what the validator would stumble over only when it comes there, or pass over without a word.
 *
 * @param {any} schema
 * @param {string} at where it stands
 * @param {Record<string, unknown>} known schemas, by their addresses
 * @throws {Error}
 */
function examine(schema, at, known) {
  if (typeof schema === 'boolean') return;
  /** @param {unknown} right @param {string} rule */
  const expect = (right, rule) => {
    if (!right) throw new Error(`${at}: ${rule}`);
  };
  /** @param {string} keyword @param {(value: any) => unknown} fits @param {string} rule */
  const given = (keyword, fits, rule) => expect(schema[keyword] === undefined || fits(schema[keyword]), `${keyword} is ${rule}`);
  expect(isObject(schema), 'a schema is an object, true or false');
  const { $ref, type, pattern, items } = schema;
  expect($ref === undefined || known[schema.__absolute_ref__ ?? $ref] !== undefined, `there is nothing at $ref ${JSON.stringify($ref)}`);
  const odd = [type ?? []].flat().find((it) => !TYPES.includes(it));
  expect(odd === undefined, `there is no type ${JSON.stringify(odd)}`);
  given('required', (it) => Array.isArray(it) && it.every((name) => typeof name === 'string'), 'a list of names');
  given('enum', Array.isArray, 'a list');
  for (const text of [...(pattern === undefined ? [] : [pattern]), ...Object.keys(schema.patternProperties ?? {})]) {
    expect(isPattern(text), `no regular expression: ${JSON.stringify(text)}`);
  }
  for (const keyword of SEVERAL) {
    given(keyword, Array.isArray, 'a list of schemas');
    (schema[keyword] ?? []).forEach((/** @type {any} */ it, /** @type {number} */ n) => examine(it, `${at}/${keyword}/${n}`, known));
  }
  for (const keyword of NAMED) {
    given(keyword, isObject, 'an object of schemas');
    for (const [name, it] of Object.entries(schema[keyword] ?? {})) examine(it, `${at}/${keyword}/${name}`, known);
  }
  for (const keyword of ONE) if (schema[keyword] !== undefined) examine(schema[keyword], `${at}/${keyword}`, known);
  for (const it of [items ?? []].flat()) examine(it, `${at}/items`, known);
}

/** @param {unknown} value */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param {unknown} text */
function isPattern(text) {
  try {
    return typeof text === 'string' && new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
