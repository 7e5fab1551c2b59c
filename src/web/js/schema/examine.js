/**
 * Checks that a JSON Schema is valid. Small, because every host has it. `references.js` resolves its
 * references.
 */
import { isAmount, isObject } from '../read.js';

const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'];

/** Keywords that hold schemas: one schema, several, or one for each name. */
const ONE = ['additionalProperties', 'unevaluatedProperties', 'propertyNames', 'additionalItems', 'unevaluatedItems', 'contains', 'not', 'if', 'then', 'else', 'contentSchema'];
const SEVERAL = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'];

/** @param {unknown} it */
const isText = (it) => typeof it === 'string';
/** @param {unknown} it */
const isNumber = (it) => typeof it === 'number';
/** @param {any[]} them */
const differ = (them) => new Set(them).size === them.length;
/** @param {any} it */
const isNames = (it) => Array.isArray(it) && it.every(isText) && differ(it);

/** @param {any} it */
const isAnchor = (it) => isText(it) && /^[a-z_][\w.-]*$/i.test(it);

/** The rules for the other keywords, as in the metaschema. @type {[rule: string, fits: (value: any) => unknown, keywords: string][]} */
const RULES = [
  ['a text', isText, '$schema $ref $dynamicRef $recursiveRef $comment format title description contentEncoding contentMediaType'],
  ['true or false', (it) => typeof it === 'boolean', 'uniqueItems deprecated readOnly writeOnly $recursiveAnchor'],
  ['a name of letters, digits, - _ and .', isAnchor, '$anchor $dynamicAnchor'],
  // Drafts up to 7 write an anchor as an `$id`.
  ['an address without a fragment', (it) => isText(it) && (/^[^#]*#?$/.test(it) || (it[0] === '#' && isAnchor(it.slice(1)))), '$id'],
  ['a number', isNumber, 'minimum maximum exclusiveMinimum exclusiveMaximum'],
  ['a number above 0', (it) => isNumber(it) && it > 0, 'multipleOf'],
  ['a whole number from 0', (it) => isAmount(it) && it % 1 === 0, 'minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains'],
  ['a list of names that differ', isNames, 'required'],
  ['a list of at least one value', (it) => Array.isArray(it) && it.length, 'enum'],
  ['a list', Array.isArray, 'examples'],
  ['lists of names that differ', (it) => isObject(it) && Object.values(it).every(isNames), 'dependentRequired'],
  ['an object', isObject, '$vocabulary'],
];
const OTHERS = 'type pattern items const default';
const KNOWN = new Set([...ONE, ...SEVERAL, ...NAMED, ...OTHERS.split(' '), ...RULES.flatMap(([, , keywords]) => keywords.split(' '))]);

/**
 * @template T
 * @typedef {object} Options
 * @property {string} [at] where the schema stands
 * @property {((at: string, name: string) => void) | undefined} [odd] called for each schema without any keyword of JSON Schema, with a name that stands there
 * @property {(text: string) => boolean} [isExpression] whether a text is a regular expression
 * @property {(schema: any, outer: T) => T} [enter] called for each schema before those in it, with its result for the schema around it
 * @property {T} [outer] for the first
 */

/**
 * @template T
 * @param {any} schema
 * @param {Options<T>} [options]
 * @throws {Error} for an invalid schema
 */
export function examine(schema, { at: start = '#', odd, isExpression = isPattern, enter, outer: first } = {}) {
  const seen = new Set();
  /** @param {any} schema @param {string} at @param {any} outer */
  const visit = (schema, at, outer) => {
    if (typeof schema === 'boolean' || seen.has(schema)) return;
    seen.add(schema);
    /** @param {unknown} right @param {string} rule */
    const expect = (right, rule) => {
      if (!right) throw new Error(`${at}: ${rule}`);
    };
    /** @param {string} keyword @param {(value: any) => unknown} fits @param {string} rule */
    const given = (keyword, fits, rule) => expect(schema[keyword] === undefined || fits(schema[keyword]), `${keyword} must be ${rule}`);
    expect(isObject(schema), 'a schema must be an object, true or false');
    const names = Object.keys(schema);
    if (odd && names[0] !== undefined && !names.some((name) => KNOWN.has(name) || /^(\$|x-)/.test(name))) odd(at, names[0]);
    for (const [rule, fits, keywords] of RULES) for (const keyword of keywords.split(' ')) given(keyword, fits, rule);
    const types = [schema.type ?? []].flat();
    const strange = types.find((it) => !TYPES.includes(it));
    expect(strange === undefined, `there is no type ${JSON.stringify(strange)}`);
    given('type', () => types.length && differ(types), 'a type, or a list of some that differ');
    given('pattern', (it) => isText(it) && isExpression(it), 'a regular expression');
    const inner = enter?.(schema, outer);
    /** @param {any} it @param {string} where */
    const within = (it, where) => visit(it, `${at}/${where}`, inner);
    for (const keyword of ONE) if (schema[keyword] !== undefined) within(schema[keyword], keyword);
    if (schema.items !== undefined) for (const it of [schema.items].flat()) within(it, 'items');
    for (const keyword of SEVERAL) {
      given(keyword, (it) => Array.isArray(it) && it.length, 'a list of schemas, at least one');
      schema[keyword]?.forEach((/** @type {any} */ it, /** @type {number} */ n) => within(it, `${keyword}/${n}`));
    }
    for (const keyword of NAMED) {
      given(keyword, isObject, 'an object of schemas');
      for (const [name, it] of Object.entries(schema[keyword] ?? {})) {
        expect(keyword !== 'patternProperties' || isExpression(name), `not a regular expression: ${name}`);
        // In draft-07, the value may also be an array of names.
        if (keyword !== 'dependencies' || !isNames(it)) within(it, `${keyword}/${name}`);
      }
    }
  };
  refuseLibraries(schema, start, new Set());
  visit(schema, start, first);
}

/**
 * Refuses schemas of libraries, such as zod: an object of functions, in which nothing would be checked.
 *
 * @param {any} it a schema, or anything in it
 * @param {string} at
 * @param {Set<unknown>} seen
 */
function refuseLibraries(it, at, seen) {
  if (Object(it) !== it || seen.has(it)) return;
  // The whole schema has a version that `register` does not know.
  const remedy = seen.size ? 'give one such schema of all properties, as z.object({ … }), or a JSON Schema here, as z.toJSONSchema(…)' : 'give z.toJSONSchema(…)';
  seen.add(it);
  const standard = it['~standard'];
  if (standard) throw new Error(`${at}: this is a schema of ${standard.vendor ?? 'a library'}, and no JSON Schema: ${remedy}`);
  for (const [name, inner] of Object.entries(it)) refuseLibraries(inner, `${at}/${name}`, seen);
}

/** @param {string} text */
function isPattern(text) {
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
