/**
 * Schemas of libraries that implement Standard Schema, version 1, such as zod, valibot and arktype. The
 * library checks the parameters, and the handler gets the parsed parameters. The library also parses
 * the handler's return value, and the agent gets the parsed data. Agents see the JSON Schema that the
 * library provides (Standard JSON Schema), if it provides one.
 */
import { abpError, invalid, log, text } from './errors.js';
import { textOf } from './json.js';
import { isObject } from './read.js';

/**
 * @typedef {{ message: string, path?: readonly (PropertyKey | { key: PropertyKey })[] }} Issue
 * @typedef {{ value?: any, issues?: readonly Issue[] | undefined }} Result
 * @typedef {{ validate: (value: unknown) => Result | Promise<Result>, jsonSchema?: Record<'input' | 'output', (options: { target: string }) => object> }} Standard
 */

const DIALECT = 'draft-2020-12';
/** The number of issues in one answer: a list may have thousands of items that do not fit. */
const MOST_ISSUES = 16;

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
  return (params, context) => {
    const dataOf = (/** @type {Result} */ { issues, value }) => {
      if (!issues) return value;
      const message = `The answer of ${name} breaks its outputSchema: ${said(errorsOf(issues))}`;
      // Nobody waits for the answer of a handler that was told to stop.
      if (!context.stopped) log('error', message);
      throw abpError('OPERATION_FAILED', message);
    };
    const parse = (/** @type {unknown} */ data) => {
      const result = output.validate(data);
      return result instanceof Promise ? result.then(dataOf) : dataOf(result);
    };
    const returned = handler(params, context);
    return typeof returned?.then === 'function' ? Promise.resolve(returned).then(parse) : parse(returned);
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

/**
 * The check of parameters by a library. The handler gets the parsed parameters.
 *
 * @param {string} name
 * @param {Standard} standard
 * @returns {import('./validators.js').Check}
 */
export function checkBy(name, standard) {
  return (params, given) => {
    const judge = (/** @type {Result} */ { issues, value }) => {
      if (issues) return verdictOf(issues);
      given.params = value;
      return null;
    };
    const fail = (/** @type {unknown} */ error) => {
      log('error', `the inputSchema of ${name} has failed:`, error);
      return invalid(`The parameters cannot be checked: ${text(error)}`);
    };
    try {
      const result = standard.validate(params);
      return result instanceof Promise ? result.then(judge).catch(fail) : judge(result);
    } catch (error) {
      return fail(error);
    }
  };
}

/** @param {readonly Issue[]} issues */
function verdictOf(issues) {
  const errors = errorsOf(issues);
  const path = errors[0]?.path ?? '';
  const noun = errors.length > 1 || path === '' ? 'parameters' : 'parameter';
  return { ...invalid(`Bad ${noun}${path === '' ? ':' : ''} ${said(errors)}`), details: { path, errors } };
}

/** @param {readonly Issue[]} issues */
const errorsOf = (issues) => issues.slice(0, MOST_ISSUES).map(({ message, path = [] }) => ({ path: pathOf(path), message }));

/** @param {{ path: string, message: string }[]} errors */
const said = (errors) => errors.map((it) => (it.path === '' ? it.message : `${it.path}: ${it.message}`)).join('; ');

/** @param {readonly (PropertyKey | { key: PropertyKey })[]} path */
const pathOf = (path) => [...path].map((it) => String(typeof it === 'object' ? it.key : it)).join('.');
