/**
 * The capabilities of an app as the tools of MCP, and their JSON Schemas as its clients want them. A
 * client reads the whole list of tools or none of it, so one careless schema must not hide them all.
 */
import { kindNames } from './content.js';
import { isObject } from './message.js';

const PAGE_SIZE = 100;
const MAX_NAME = 128;

/** A capability as a tool, under its own name. @param {any} document */
export function tool({ name, description, inputSchema: input, outputSchema: output }) {
  const promised = outputSchema(output);
  return { name, ...(description !== undefined && { description }), inputSchema: inputSchema(input), ...(promised && { outputSchema: promised }) };
}

/**
 * The capability a client means: by its name, or, for clients that know only letters, digits, `_`
 * and `-` in names, by the name with `_` for everything else.
 *
 * @param {any[]} documents
 * @param {string} wanted
 * @returns {any} or, if there is none, what is wrong
 */
export function findTool(documents, wanted) {
  const exact = documents.find(({ name }) => name === wanted);
  const [only, other] = exact ? [exact] : documents.filter(({ name }) => name.replace(/[^\w-]/gu, '_') === wanted);
  if (other) return `Ambiguous tool: ${wanted} is ${only.name} or ${other.name}`;
  const characters = [...wanted];
  return only ?? `Unknown tool: ${characters.length > MAX_NAME ? `${characters.slice(0, MAX_NAME).join('')}…` : wanted}`;
}

/**
 * One page of a list, and the cursor of the next. A cursor says which tool came last, so that a
 * change in between shifts no page; when that tool is gone the cursor is no longer valid.
 *
 * @param {any[]} documents
 * @param {unknown} cursor
 * @param {number} [size]
 */
export function page(documents, cursor, size = PAGE_SIZE) {
  const start = cursor === undefined ? 0 : documents.findIndex(({ name }) => cursorOf(name) === cursor) + 1;
  if (cursor !== undefined && start === 0) return undefined;
  const found = documents.slice(start, start + size);
  const more = start + size < documents.length;
  return { documents: found, nextCursor: more ? cursorOf(found[found.length - 1].name) : undefined };
}

/** @param {string} name */
function cursorOf(name) {
  const bytes = String.fromCharCode(...new TextEncoder().encode(name));
  return btoa(bytes).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');
}

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
