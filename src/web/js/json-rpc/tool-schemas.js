/**
 * The JSON Schemas of capabilities in the form that MCP clients, and the models behind them, accept. A
 * client accepts the whole list of tools or none of it, so one careless schema must not hide all tools.
 * Listed schemas check nothing: the host checks calls by the schema of the capability.
 *
 * `register` refuses invalid schemas. What remains are valid schemas that not every client can compile.
 * The gateway's `fronts/mcp/schema.rs` does the same, by the same vectors.
 */
import { contentNames } from './content.js';
import { isObject } from './message.js';

/** The depth to which schemas are searched. A recursive schema refers to itself by `$ref`, not by depth. */
const MAX_DEPTH = 64;

/** The version of JSON Schema that MCP has. */
const VERSION = 'https://json-schema.org/draft/2020-12/schema';

/** The number of characters of a rule in a description. */
const MAX_RULE = 2000;

const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];

/**
 * Keywords of other versions and programs. Clients refuse them, read them differently, or have no use
 * for them: a page has no headers, for example.
 */
const FOREIGN = ['$schema', '$vocabulary', '$recursiveAnchor', 'id', '$async', 'additionalItems', 'x-mcp-header'];

/** Keywords that accept less when the schemas in them accept more. */
const CONTRARY = ['not', 'if', 'oneOf', 'maxContains'];

/** Syntax of JavaScript that other languages refuse, in a pattern without its escaped signs. */
const ONLY_HERE = /\(\?(?![:=!])|\\[1-9pPkc]|\\u\{|\[\^?\]/;

/** Keywords that model interfaces refuse at the root of a schema. */
const NOT_AT_ROOT = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'enum', 'const'];

/**
 * The schema of a tool's arguments: always an object, whatever schema the capability has for its
 * parameters.
 *
 * @param {any} given
 * @returns {{ schema: any, rule?: string }} and the rule that the schema cannot say at its root, for the description
 */
export function inputSchema(given) {
  const types = isObject(given) ? [given.type ?? 'object'].flat() : [];
  const schema = structuredClone(tidy({ ...(types.includes('object') ? given : {}), type: 'object' }));
  dropAddresses(schema);
  const rule = flatten(schema);
  // Clients pass this schema on to a model, and do not compile it.
  const version = schema.$schema === VERSION && { $schema: VERSION };
  return { schema: makeFit(schema) ? { ...version, ...schema } : { type: 'object' }, ...(rule && { rule }) };
}

/** What was made of the schemas of registered capabilities, which nobody can change. @type {WeakMap<object, any>} */
const promised = new WeakMap();

/**
 * The schema of structured content. A tool has one only if the capability promises an object without
 * files: a client that gets structured content would not show the files. Made once for each registration.
 *
 * @param {any} schema
 */
export function outputSchema(schema) {
  if (!isObject(schema)) return undefined;
  if (!promised.has(schema)) promised.set(schema, promise(schema));
  return promised.get(schema);
}

/** @param {any} schema */
function promise(schema) {
  if (schema.type !== 'object' || hasFiles(schema, 0)) return undefined;
  const listed = structuredClone(tidy(schema));
  return makeFit(listed) ? listed : undefined;
}

/**
 * Removes the keywords that may not be at the root. The properties stay. The returned rule says in
 * words what the removed keywords said.
 *
 * @param {any} schema changed in place
 */
function flatten(schema) {
  /** @type {any} */
  const rule = {};
  for (const keyword of NOT_AT_ROOT.filter((it) => it in schema)) {
    rule[keyword] = schema[keyword];
    delete schema[keyword];
  }
  const found = Object.entries(rule);
  if (!found.length) return undefined;
  for (const [keyword, value] of found) {
    const parts = Array.isArray(value) && keyword !== 'enum' ? value : keyword === '$ref' ? [pointed(schema, value)] : ['then', 'else'].includes(keyword) ? [value] : [];
    for (const part of parts) takeProperties(schema, part, keyword === 'allOf' || keyword === '$ref');
  }
  const said = [...JSON.stringify(rule)];
  return said.length <= MAX_RULE
    ? `The arguments also match this JSON Schema: ${said.join('')}`
    : `The arguments also match a JSON Schema, which begins: ${said.slice(0, MAX_RULE).join('')}…`;
}

/** The place in a schema to which a reference points. @param {any} schema @param {string} reference */
function pointed(schema, reference) {
  if (!reference.startsWith('#/')) return undefined;
  return decodeURIComponent(reference.slice(2)).split('/').reduce((part, step) => {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    return Object.hasOwn(Object(part), name) ? part[name] : undefined;
  }, schema);
}

/**
 * Adds the properties of a part of the root. Its required properties stay required if the part always
 * applies.
 *
 * @param {any} schema changed in place
 * @param {any} part
 * @param {boolean} needed
 */
function takeProperties(schema, part, needed) {
  if (!isObject(part)) return;
  const { properties, required } = part;
  if (isObject(properties)) {
    schema.properties ??= {};
    for (const [name, it] of Object.entries(properties)) {
      if (!Object.hasOwn(schema.properties, name)) schema.properties[name] = isObject(it) ? structuredClone(it) : {};
    }
    // It knows only the properties of the root itself.
    delete schema.additionalProperties;
  }
  if (needed && Array.isArray(required)) schema.required = [...new Set([...(schema.required ?? []), ...required.filter((it) => typeof it === 'string')])];
}

/**
 * Changes a schema to one that all clients can compile, and that accepts at least the same values.
 *
 * @param {any} root changed in place
 * @returns {boolean} whether there is such a schema
 */
function makeFit(root) {
  // Clients keep the check of a schema with an address, and use it for other tools with this address.
  delete root.$id;
  /** @type {any[]} */
  const parts = [];
  if (!collect(root, 0, parts)) return false;
  const accepts = parts.filter(makePartFit);
  if (accepts.length && parts.some((part) => CONTRARY.some((keyword) => keyword in part))) return false;
  const known = new Set(parts);
  const leads = (/** @type {string | undefined} */ reference) => {
    if (reference === undefined || reference === '#') return true;
    if (!reference.startsWith('#/')) return parts.some(({ $anchor, $dynamicAnchor }) => [$anchor, $dynamicAnchor].includes(reference.slice(1)));
    const target = pointed(root, reference);
    return typeof target === 'boolean' || known.has(target);
  };
  if (!parts.every(({ $ref, $dynamicRef }) => leads($ref) && leads($dynamicRef))) return false;
  parts.forEach(replaceBooleans);
  return true;
}

/** Some clients and model interfaces refuse a boolean in the place of a schema. @param {any} schema changed in place */
function replaceBooleans(schema) {
  /** @param {any} place @param {string | number} at */
  const replace = (place, at) => {
    if (typeof place[at] === 'boolean') place[at] = place[at] ? {} : { not: {} };
  };
  for (const [keyword, value] of Object.entries(schema)) {
    if (ONE.includes(keyword) && !MAY_BE_BOOLEAN.includes(keyword)) replace(schema, keyword);
    if ((Array.isArray(value) ? SEVERAL : NAMED).includes(keyword)) for (const at of Object.keys(Object(value))) replace(value, at);
  }
}

/**
 * @param {any} schema
 * @param {number} depth
 * @param {any[]} found gets the schema and all schemas in it
 * @returns {boolean} false if the schemas are too deep
 */
function collect(schema, depth, found) {
  found.push(schema);
  return depth <= MAX_DEPTH && schemasIn(schema).every((inner) => collect(inner, depth + 1, found));
}

/**
 * @param {any} schema changed in place, without the schemas in it
 * @returns {boolean} whether it now accepts more
 */
function makePartFit(schema) {
  let more = dropAddresses(schema);
  const drop = (/** @type {string} */ keyword) => {
    more ||= keyword in schema;
    delete schema[keyword];
  };
  const { $recursiveRef, $id, items, pattern, patternProperties } = schema;
  if ($recursiveRef !== undefined) schema.$ref ??= $recursiveRef;
  delete schema.$recursiveRef;
  if ($id?.startsWith('#')) {
    if ($id !== '#') schema.$anchor ??= $id.slice(1);
    delete schema.$id;
  }
  // Of OpenAPI. Validators accept it only beside a type.
  if (typeof schema.nullable !== 'boolean' || schema.type === undefined) delete schema.nullable;
  if (Array.isArray(items)) {
    drop('additionalItems');
    if (items.length) schema.prefixItems ??= items;
    delete schema.items;
  }
  // Clients with draft-07 do not know the keyword beside these, and would refuse right values.
  if ('prefixItems' in schema) drop('items');
  if (schema.minContains === 0) drop('contains');
  if (pattern !== undefined && isOnlyHere(pattern)) drop('pattern');
  for (const name of Object.keys(patternProperties ?? {}).filter(isOnlyHere)) {
    delete patternProperties[name];
    for (const keyword of ['additionalProperties', 'unevaluatedProperties']) drop(keyword);
    more = true;
  }
  for (const keyword of FOREIGN) delete schema[keyword];
  // Clients look for names of schemas in there too.
  for (const [keyword, value] of Object.entries(schema)) if (isObject(value) && !OBJECTS.includes(keyword)) delete schema[keyword];
  // Some clients refuse arrays without it.
  if ([schema.type].flat().includes('array')) schema.items ??= {};
  return more;
}

/**
 * Many clients cannot resolve addresses, not even of a part of the schema or of the metaschema.
 *
 * @param {any} schema changed in place
 * @returns {boolean} whether there was one
 */
function dropAddresses(schema) {
  const found = REFERENCES.filter((keyword) => schema[keyword] !== undefined && !schema[keyword].startsWith('#'));
  for (const keyword of found) delete schema[keyword];
  return found.length > 0;
}

/** @param {string} pattern */
const isOnlyHere = (pattern) => ONLY_HERE.test(pattern.replace(/\\\W/g, 'x'));

/** Members that often hold the content of a file, named after its type. */
const COMMON = ['image', 'audio', 'video', 'font', 'pdf', 'png', 'jpeg', 'gif', 'webp', 'zip'];

/**
 * Whether results of the schema may have files. A schema need not declare the members `mimeType` and
 * `encoding`, unless it allows no other members.
 *
 * @param {any} schema
 * @param {number} depth
 * @param {any} [around] the schema of `mimeType` in the object around it
 * @returns {boolean}
 */
function hasFiles(schema, depth, around) {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const { mimeType: own, encoding } = properties;
  const mime = own ?? around;
  const declared = encoding !== undefined;
  if (declared || own !== undefined || schema.additionalProperties !== false) {
    // A file of any type may have a plain name.
    const types = [...(Array.isArray(mime?.enum) ? mime.enum : []), mime?.const, undefined];
    const names = [...types.flatMap((it) => contentNames(it, declared)), ...COMMON];
    if (names.some((name) => Object.hasOwn(properties, name) && mayBeBase64(properties[name]))) return true;
  }
  return depth < MAX_DEPTH && schemasIn(schema).some((inner) => hasFiles(inner, depth + 1, mime));
}

/** Whether a text in base64 may satisfy a schema. @param {any} schema */
const mayBeBase64 = (schema) =>
  schema !== false && [schema?.type ?? 'string'].flat().includes('string') && !['uri', 'iri', 'url'].includes(schema?.format);

/** Ensures what clients require: `properties` are schemas, `required` are names. @param {any} schema */
function tidy({ properties, required, ...rest }) {
  const tidied = isObject(properties)
    ? Object.fromEntries(Object.entries(properties).map(([name, it]) => [name, isObject(it) || typeof it === 'boolean' ? it : {}]))
    : undefined;
  const names = Array.isArray(required) && required.every((it) => typeof it === 'string');
  return { ...rest, ...(tidied && { properties: tidied }), ...(names && { required }) };
}

const NAMED = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'];
const SEVERAL = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'];
const ONE = ['items', 'additionalItems', 'unevaluatedItems', 'contains', 'additionalProperties', 'unevaluatedProperties', 'propertyNames', 'not', 'if', 'then', 'else', 'contentSchema'];

/** Keywords that people write with `true` or `false`, and that all clients know so. */
const MAY_BE_BOOLEAN = ['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems'];

/** Keywords whose values may be objects. */
const OBJECTS = [...NAMED, ...ONE, 'dependentRequired', 'const', 'default'];

/** The direct subschemas that are objects. @param {any} schema @returns {any[]} */
function schemasIn(schema) {
  const inner = Object.entries(schema).flatMap(([keyword, value]) => {
    if (Array.isArray(value)) return SEVERAL.includes(keyword) ? value : [];
    if (!isObject(value)) return [];
    return NAMED.includes(keyword) ? Object.values(value) : ONE.includes(keyword) ? [value] : [];
  });
  return inner.filter(isObject);
}
