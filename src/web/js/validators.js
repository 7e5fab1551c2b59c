/**
 * Checks parameters against JSON Schemas, or by a library's own check. The validator of JSON Schemas is loaded when the first schema that needs the
 * validator is registered. Until it is loaded, calls wait, and can be cancelled meanwhile.
 */
import { invalid, log, problem, text } from './errors.js';
import { loadPart } from './part.js';
import { examine } from './schema/examine.js';
import { resolve } from './schema/references.js';
import { checkBy } from './standard-schema.js';

/**
 * @typedef {{ code: string, message: string, details?: unknown }} Verdict
 * @typedef {(params: unknown, given: { params: any }) => Verdict | null | Promise<Verdict | null>} Check gets `given`, from
 *   which the handler gets the parameters
 * @typedef {{ name: string, schema: any, check?: Check }} Entry
 */

/** @type {Promise<void> | undefined} */
let loading;
/** @type {typeof import('./schema/compile.js').compile | undefined} */
let compile;

/** After a failed load, the next caller tries again. */
function load() {
  loading ??= loadPart(() => import('./schema/compile.js')).then(
    (module) => {
      ({ compile } = module);
    },
    (error) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
}

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
    const entry = { name, schema, check: standard && checkBy(name, standard) };
    // Parameters are always an object.
    if (!standard && schema?.type === 'object' && Object.keys(schema).length === 1) return this.delete(name);
    this.#byName.set(name, entry);
    if (!standard) this.#compile(entry).catch(() => {});
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
    const verdict = entry.check ? run(entry.check, given) : this.#compile(entry).then((check) => run(check, given), notLoaded);
    return verdict instanceof Promise ? void verdict.then((late) => this.report(key, late)) : this.report(key, verdict);
  }

  /** @param {Entry} entry @returns {Promise<Check>} rejects when the validator cannot be loaded */
  async #compile(entry) {
    if (!compile) await load();
    return (entry.check ??= checkOf(entry));
  }
}

/** @param {unknown} error */
function notLoaded(error) {
  log('error', 'the schema validator could not be loaded:', error);
  return problem('INTERNAL_ERROR', `The schema validator could not be loaded: ${text(error)}`);
}

/** @param {Entry} entry @returns {Check} */
function checkOf({ name, schema }) {
  const { check, warnings } = /** @type {NonNullable<typeof compile>} */ (compile)(schema, resolve(schema), examine);
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
