/**
 * JSON Schemas of capabilities as MCP wants them. A client reads the whole list of tools or none of
 * it, so what one was written carelessly with must not hide all.
 */
import { kindNames } from './content.js';
import { isObject } from './message.js';

/** Nesting of schemas that is looked into: a recursive one refers to itself by `$ref`, not by depth. */
const MAX_DEPTH = 64;

/** Arguments of a tool are an object, whatever the capability says of its parameters. @param {any} schema */
export function inputSchema(schema) {
  const types = isObject(schema) ? [schema.type ?? 'object'].flat() : [];
  return tidy({ ...(types.includes('object') ? schema : {}), type: 'object' });
}

/** The schema of structured content: only where the capability promises an object. @param {any} schema */
export function outputSchema(schema) {
  if (!isObject(schema) || schema.type !== 'object') return undefined;
  return tidy(pointAtBinaries(structuredClone(schema), 0));
}

/** What clients insist on: `properties` are schemas that are objects, `required` are names. @param {any} schema */
function tidy({ properties, required, ...rest }) {
  const tidied = isObject(properties)
    ? Object.fromEntries(Object.entries(properties).map(([name, it]) => [name, isObject(it) ? it : it === false ? { not: {} } : {}]))
    : undefined;
  const names = Array.isArray(required) && required.every((it) => typeof it === 'string');
  return { ...rest, ...(tidied && { properties: tidied }), ...(names && { required }) };
}

const MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'];
const SINGLE = ['items', 'additionalProperties', 'if', 'then', 'else', 'contains'];

/**
 * Says of members that hold base64 what stands there instead.
 *
 * @param {any} schema changed in place
 * @param {number} depth
 */
function pointAtBinaries(schema, depth) {
  if (depth > MAX_DEPTH || !isObject(schema)) return schema;
  const { properties } = schema;
  if (isObject(properties)) {
    for (const name of binaryMembers(properties)) {
      const { description } = properties[name];
      const what = typeof description === 'string' ? `${description}. ` : '';
      properties[name] = { type: 'string', description: `${what}Here a JSON Pointer to where in this result its base64 is` };
    }
  }
  for (const [keyword, value] of Object.entries(schema)) {
    const inner = isObject(value)
      ? MAPS.includes(keyword) ? Object.values(value) : SINGLE.includes(keyword) ? [value] : []
      : Array.isArray(value) && LISTS.includes(keyword) ? value : [];
    for (const it of inner) pointAtBinaries(it, depth + 1);
  }
  return schema;
}

/** The members that may hold the bytes of `mimeType` beside them. @param {any} properties */
function binaryMembers(properties) {
  const { mimeType } = properties;
  if (mimeType === undefined) return [];
  const listed = [...(Array.isArray(mimeType?.enum) ? mimeType.enum : []), mimeType?.const].filter((it) => typeof it === 'string');
  const names = new Set([...('encoding' in properties ? ['content'] : []), ...listed.flatMap(kindNames)]);
  return [...names].filter((name) => Object.hasOwn(properties, name) && properties[name] != null);
}
