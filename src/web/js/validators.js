/**
 * Checks parameters against JSON Schemas, or by a library's own check. The code for either is loaded when the first
 * schema that needs the code is registered. Until it is loaded, calls wait, and can be cancelled meanwhile.
 */
import { invalid, log, problem, text } from './errors.js';
import { once } from './part.js';
import { examine } from './schema/examine.js';
import { bareTree } from './read.js';
import { resolve } from './schema/references.js';
import { KIT, loadChecks } from './standard-schema.js';

/**
 * @typedef {{ code: string, message: string, details?: unknown }} Verdict
 * @typedef {(params: unknown, given: { params: any }) => Verdict | null | Promise<Verdict | null>} Check gets `given`, from
 *   which the handler gets the parameters
 * @typedef {{ name: string, schema: any, standard?: import('./standard-schema.js').Standard | undefined, check?: Check }} Entry
 */

const loadCompile = once(() => import('./schema/compile.js'));

export class Validators {
  /** @type {Map<string, Entry>} */
  #byName = new Map();

  /** @param {(key: number, verdict: Verdict | null) => void} report */
  constructor(report) {
    this.report = report;
  }

  /**
   * @param {string} name
   * @param {any} schema a valid schema
   * @param {import('./standard-schema.js').Standard} [standard] checks in its place
   */
  set(name, schema, standard) {
    /** @type {Entry} */
    const entry = { name, schema, standard };
    // Parameters are always an object.
    if (!standard && schema?.type === 'object' && Object.keys(schema).length === 1) return this.delete(name);
    this.#byName.set(name, entry);
    this.#prepare(entry).catch(() => {});
  }

  /** @param {string} name */
  delete(name) {
    this.#byName.delete(name);
  }

  /**
   * Reports the verdict, at once or when it is known.
   *
   * @param {number} key
   * @param {string} name
   * @param {{ params: any }} given the object from which the handler gets its parameters
   */
  check(key, name, given) {
    const entry = this.#byName.get(name);
    if (!entry) return this.report(key, null);
    const verdict = entry.check ? run(entry.check, given) : this.#prepare(entry).then((check) => run(check, given), notLoaded);
    return verdict instanceof Promise ? void verdict.then((late) => this.report(key, late)) : this.report(key, verdict);
  }

  /** @param {Entry} entry @returns {Promise<Check>} rejects when the code for the check cannot be loaded */
  async #prepare(entry) {
    const { name, schema, standard } = entry;
    if (standard) {
      const { checkBy } = await loadChecks();
      return (entry.check ??= checkBy(name, standard, KIT));
    }
    const { compile } = await loadCompile();
    return (entry.check ??= checkOf(compile, name, schema));
  }
}

/** @param {unknown} error */
function notLoaded(error) {
  log('error', 'the schema validator could not be loaded:', error);
  return problem('INTERNAL_ERROR', `The schema validator could not be loaded: ${text(error)}`);
}

/**
 * @param {typeof import('./schema/compile.js').compile} compile
 * @param {string} name
 * @param {any} schema
 * @returns {Check}
 */
function checkOf(compile, name, schema) {
  const own = bareTree(schema);
  const { check, warnings } = compile(own, resolve(own), examine);
  for (const warning of warnings) log('warn', `${name}: inputSchema: ${warning}`);
  return check;
}

/**
 * @param {Check} check
 * @param {{ params: any }} given
 * @returns {ReturnType<Check>}
 */
function run(check, given) {
  try {
    const verdict = check(given.params, given);
    return verdict instanceof Promise ? verdict.catch(unreadable) : verdict;
  } catch (error) {
    return unreadable(error);
  }
}

/** @param {unknown} error */
const unreadable = (error) => invalid(`The parameters cannot be checked: ${error}`);
