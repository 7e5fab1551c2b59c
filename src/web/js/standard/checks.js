/**
 * The checks by libraries that implement Standard Schema: of parameters, and of the data that handlers return.
 */

/** @import { Issue, Result, Standard } from '../standard-schema.js' */
/** @typedef {typeof import('../standard-schema.js').KIT} Kit */

/** The number of issues in one answer: a list may have thousands of items that do not fit. */
const MOST_ISSUES = 16;

/**
 * @param {string} name of the capability
 * @param {Standard} output
 * @param {unknown} data that its handler returned
 * @param {import('../running.js').Context} context
 * @param {Kit} kit
 * @returns {Promise<unknown>} the parsed data
 */
export async function parse(name, output, data, context, { abpError, log }) {
  const { issues, value } = await output.validate(data);
  if (!issues) return value;
  const message = `The answer of ${name} breaks its outputSchema: ${said(errorsOf(issues))}`;
  // Nobody waits for the answer of a handler that was told to stop.
  if (!context.stopped) log('error', message);
  throw abpError('OPERATION_FAILED', message);
}

/**
 * The check of parameters by a library. The handler gets the parsed parameters.
 *
 * @param {string} name
 * @param {Standard} standard
 * @param {Kit} kit
 * @returns {import('../validators.js').Check}
 */
export function checkBy(name, standard, { invalid, log, text }) {
  return (params, given) => {
    const judge = (/** @type {Result} */ { issues, value }) => {
      if (issues) return verdictOf(issues, invalid);
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

/** @param {readonly Issue[]} issues @param {Kit['invalid']} invalid */
function verdictOf(issues, invalid) {
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
