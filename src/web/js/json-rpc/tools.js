/**
 * The capabilities of an app as tools of MCP, with their JSON Schemas in the form that MCP clients
 * need. A client accepts the whole list of tools or none of it, so one careless schema must not hide
 * all tools.
 */
import { kindNames } from './content.js';
import { isObject } from './message.js';
import { toolNames } from './tool-names.js';

/** The number of characters of a name that an error repeats. */
const MAX_NAME = 128;

/**
 * The capabilities as tools. If a capability has no title and its tool has another name, the title of the
 * tool is the capability's own name.
 *
 * @param {any[]} documents
 * @param {{ structure: boolean }} version
 */
export function tools(documents, { structure }) {
  const names = toolNames(documents.map(({ name }) => name));
  return documents.map(({ name: own, title, description: said, inputSchema: input, outputSchema: output }, at) => {
    const name = names[at];
    const shown = title ?? (name === own ? undefined : own);
    const { schema, rule } = inputSchema(input);
    const description = [said, rule].filter(Boolean).join('\n\n');
    const promised = structure ? outputSchema(output) : undefined;
    return {
      name,
      ...(structure && shown && { title: shown }),
      ...(description && { description }),
      inputSchema: schema,
      ...(promised && { outputSchema: promised }),
    };
  });
}

/**
 * The capability that a client means: by its own name, or by the name of its tool.
 *
 * @param {any[]} documents
 * @param {string} wanted
 * @returns {any} the capability, or, if there is none, the error
 */
export function findTool(documents, wanted) {
  const names = documents.map(({ name }) => name);
  const own = names.indexOf(wanted);
  const at = own < 0 ? toolNames(names).indexOf(wanted) : own;
  if (at >= 0) return documents[at];
  const characters = [...wanted];
  return `Unknown tool: ${characters.length > MAX_NAME ? `${characters.slice(0, MAX_NAME).join('')}…` : wanted}`;
}

/** The depth to which schemas are searched. A recursive schema refers to itself by `$ref`, not by depth. */
const MAX_DEPTH = 64;

/** The number of characters of a rule in a description. */
const MAX_RULE = 2000;

const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];

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
  const schema = withoutAddresses(structuredClone(tidy({ ...(types.includes('object') ? given : {}), type: 'object' })), 0);
  const rule = flatten(schema);
  return { schema: complete(schema, 0), ...(rule && { rule }) };
}

/**
 * The schema of structured content. A tool has one only if the capability promises an object without
 * files: a client that gets structured content would not show the files.
 *
 * @param {any} schema
 */
export function outputSchema(schema) {
  if (!isObject(schema) || schema.type !== 'object' || hasFiles(schema, 0)) return undefined;
  return complete(withoutAddresses(structuredClone(tidy(schema)), 0), 0);
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
    const parts = Array.isArray(value) && keyword !== 'enum' ? value : keyword === '$ref' ? [referred(schema, value)] : ['then', 'else'].includes(keyword) ? [value] : [];
    for (const part of parts) takeProperties(schema, part, keyword === 'allOf' || keyword === '$ref');
  }
  const said = [...JSON.stringify(rule)];
  return said.length <= MAX_RULE
    ? `The arguments also match this JSON Schema: ${said.join('')}`
    : `The arguments also match a JSON Schema, which begins: ${said.slice(0, MAX_RULE).join('')}…`;
}

/** The part of a schema that a reference within it means. @param {any} schema @param {unknown} reference */
function referred(schema, reference) {
  const names = typeof reference === 'string' && reference.startsWith('#/') ? reference.slice(2).split('/') : [undefined];
  return names.reduce((part, name) => part?.[name?.replace(/~1/g, '/').replace(/~0/g, '~') ?? ''], schema);
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
 * Removes references that have an address: many clients cannot resolve any, not even to a part of the
 * schema or to the metaschema.
 *
 * @param {any} schema changed in place
 * @param {number} depth
 */
function withoutAddresses(schema, depth) {
  for (const keyword of REFERENCES) if (typeof schema[keyword] === 'string' && !schema[keyword].startsWith('#')) delete schema[keyword];
  if (depth < MAX_DEPTH) for (const inner of schemasIn(schema)) withoutAddresses(inner, depth + 1);
  return schema;
}

/**
 * Adds the type of elements to every array: some clients refuse a tool without it. Removes the request
 * for a parameter in a header: a page has no headers.
 *
 * @param {any} schema changed in place
 * @param {number} depth
 */
function complete(schema, depth) {
  delete schema['x-mcp-header'];
  if ([schema.type].flat().includes('array')) schema.items ??= {};
  if (depth < MAX_DEPTH) for (const inner of schemasIn(schema)) complete(inner, depth + 1);
  return schema;
}

/** Whether a schema has members that hold bytes. @param {any} schema @param {number} depth @returns {boolean} */
function hasFiles(schema, depth) {
  const { properties } = schema;
  if (isObject(properties) && hasBinaryMember(properties)) return true;
  return depth < MAX_DEPTH && schemasIn(schema).some((inner) => hasFiles(inner, depth + 1));
}

/** Ensures what clients require: `properties` are schemas that are objects, `required` are names. @param {any} schema */
function tidy({ properties, required, ...rest }) {
  const tidied = isObject(properties)
    ? Object.fromEntries(Object.entries(properties).map(([name, it]) => [name, isObject(it) ? it : it === false ? { not: {} } : {}]))
    : undefined;
  const names = Array.isArray(required) && required.every((it) => typeof it === 'string');
  return { ...rest, ...(tidied && { properties: tidied }), ...(names && { required }) };
}

const NAMED = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const SEVERAL = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'];
const ONE = ['items', 'additionalItems', 'unevaluatedItems', 'contains', 'additionalProperties', 'unevaluatedProperties', 'propertyNames', 'not', 'if', 'then', 'else'];

/** The direct subschemas that are objects. @param {any} schema @returns {any[]} */
function schemasIn(schema) {
  const inner = Object.entries(schema).flatMap(([keyword, value]) => {
    if (Array.isArray(value)) return SEVERAL.includes(keyword) ? value : [];
    if (!isObject(value)) return [];
    return NAMED.includes(keyword) ? Object.values(value) : ONE.includes(keyword) ? [value] : [];
  });
  return inner.filter(isObject);
}

/** Whether a member may hold the bytes that the member `mimeType` describes. @param {any} properties */
function hasBinaryMember(properties) {
  const { mimeType } = properties;
  if (mimeType === undefined) return false;
  const listed = [...(Array.isArray(mimeType?.enum) ? mimeType.enum : []), mimeType?.const].filter((it) => typeof it === 'string');
  const names = [...('encoding' in properties ? ['content'] : []), ...listed.flatMap(kindNames)];
  return names.some((name) => Object.hasOwn(properties, name));
}
