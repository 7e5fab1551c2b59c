/**
 * Schemas of libraries that implement Standard Schema, version 1, such as zod, valibot and arktype. The
 * library checks the parameters, and the handler gets the parsed parameters. The library also parses
 * the handler's return value, and the agent gets the parsed data. Agents see the JSON Schema that the
 * library provides (Standard JSON Schema), if it provides one.
 */
import { abpError, invalid, log, text } from './errors.js';
import { textOf } from './json.js';
import { once } from './part.js';
import { isObject } from './read.js';

/**
 * @typedef {{ message: string, path?: readonly (PropertyKey | { key: PropertyKey })[] }} Issue
 * @typedef {{ value?: any, issues?: readonly Issue[] | undefined }} Result
 * @typedef {{ validate: (value: unknown) => Result | Promise<Result>, jsonSchema?: Record<'input' | 'output', (options: { target: string }) => object> }} Standard
 */

const DIALECT = 'draft-2020-12';

/** The checks, which are loaded with the first schema of a library. */
export const loadChecks = once(() => import('./standard/checks.js'));

/** The functions that the checks are given. */
export const KIT = { abpError, invalid, log, text };

/** @param {any} schema @returns {Standard | undefined} undefined for any other value, such as a JSON Schema */
function standardOf(schema) {
  const standard = (typeof schema === 'function' || isObject(schema)) && /** @type {any} */ (schema)['~standard'];
  return standard && standard.version === 1 && typeof standard.validate === 'function' ? standard : undefined;
}

/**
 * The options of `register` with JSON Schemas in place of other schemas, and the checks for parameters
 * and data that have no JSON Schema.
 *
 * @param {string} name
 * @param {any} options
 * @returns {{ options: any, standard?: Standard | undefined, output?: Standard | undefined }}
 */
export function withJsonSchemas(name, options) {
  const input = standardOf(options?.inputSchema);
  const output = standardOf(options?.outputSchema);
  if (!input && !output) return { options };
  const plain = { ...options };
  if (input) plain.inputSchema = jsonSchemaOf(input, 'input', `${name}: inputSchema`);
  if (output) plain.outputSchema = jsonSchemaOf(output, 'output', `${name}: outputSchema`);
  return { options: plain, standard: input, output };
}

/**
 * A handler whose data are parsed by the output schema. The schema that agents see describes the parsed
 * data.
 *
 * @param {string} name
 * @param {Standard} output
 * @param {(params: any, context: import('./running.js').Context) => any} handler
 * @returns {typeof handler}
 */
export function answering(name, output, handler) {
  void loadChecks().catch(() => {});
  return (params, context) => {
    const parsed = async (/** @type {unknown} */ data) => (await loadChecks()).parse(name, output, data, context, KIT);
    return Promise.resolve(handler(params, context)).then(parsed);
  };
}

/**
 * @param {Standard} standard
 * @param {'input' | 'output'} side
 * @param {string} where
 * @returns {object} a JSON Schema, a permissive one if the library provides none
 */
function jsonSchemaOf({ jsonSchema }, side, where) {
  let why = 'its library gives no JSON Schema';
  try {
    const schema = jsonSchema?.[side]({ target: DIALECT });
    // Some libraries mark it as their own. A JSON Schema has no such mark.
    if (schema) return JSON.parse(textOf(schema, (_, inner) => inner));
  } catch (error) {
    why = text(error);
  }
  log('warn', `${where}: agents are not told what it says, because ${why}`);
  return side === 'input' ? { type: 'object' } : {};
}
