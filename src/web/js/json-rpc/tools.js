/**
 * The capabilities of an app as the tools of MCP.
 */
import { inputSchema, outputSchema } from './schema.js';

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
