/**
 * Whether a JSON Schema makes sense. Small, because every host has it; where its references lead is
 * known when the validator is there.
 */
import { isObject } from '../read.js';

const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'];

/** Keywords that hold schemas: one, several, or one for each name. */
const ONE = ['additionalProperties', 'unevaluatedProperties', 'propertyNames', 'additionalItems', 'unevaluatedItems', 'contains', 'not', 'if', 'then', 'else'];
const SEVERAL = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];

/**
 * @param {any} schema
 * @param {string} at where it stands
 * @param {Set<unknown>} seen
 * @throws {Error} for a schema that makes no sense
 */
export function examine(schema, at = '#', seen = new Set()) {
  if (typeof schema === 'boolean' || seen.has(schema)) return;
  seen.add(schema);
  /** @param {unknown} right @param {string} rule */
  const expect = (right, rule) => {
    if (!right) throw new Error(`${at}: ${rule}`);
  };
  /** @param {string} keyword @param {(value: any) => unknown} fits @param {string} rule */
  const given = (keyword, fits, rule) => expect(schema[keyword] === undefined || fits(schema[keyword]), `${keyword} must be ${rule}`);
  expect(isObject(schema), 'a schema must be an object, true or false');
  // A Standard Schema: an object of functions.
  expect(!schema['~standard'], 'this is no JSON Schema; of zod, give z.toJSONSchema(…)');
  const odd = [schema.type ?? []].flat().find((it) => !TYPES.includes(it));
  expect(odd === undefined, `there is no type ${JSON.stringify(odd)}`);
  given('required', (it) => Array.isArray(it) && it.every((name) => typeof name === 'string'), 'a list of names');
  given('enum', Array.isArray, 'a list');
  given('pattern', isPattern, 'a regular expression');
  /** @param {any} inner @param {string | number} name */
  const visit = (inner, name) => examine(inner, `${at}/${name}`, seen);
  for (const keyword of ONE) if (schema[keyword] !== undefined) visit(schema[keyword], keyword);
  for (const it of [schema.items ?? []].flat()) visit(it, 'items');
  for (const keyword of SEVERAL) {
    given(keyword, Array.isArray, 'a list of schemas');
    schema[keyword]?.forEach((/** @type {any} */ it, /** @type {number} */ n) => visit(it, `${keyword}/${n}`));
  }
  for (const keyword of NAMED) {
    given(keyword, isObject, 'an object of schemas');
    for (const [name, it] of Object.entries(schema[keyword] ?? {})) {
      expect(keyword !== 'patternProperties' || isPattern(name), `not a regular expression: ${name}`);
      visit(it, `${keyword}/${name}`);
    }
  }
}

/** @param {unknown} text */
function isPattern(text) {
  try {
    return typeof text === 'string' && new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
