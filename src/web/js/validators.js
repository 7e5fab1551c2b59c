/**
 * Checks parameters against JSON Schemas. The validator is loaded when the first schema that needs the
 * validator is registered. Until it is loaded, calls wait, and can be cancelled meanwhile.
 */
import { invalid, log, problem, text } from './errors.js';
import { loadPart } from './part.js';
import { examine } from './schema/examine.js';
import { resolve } from './schema/references.js';

/**
 * @typedef {{ code: string, message: string, details?: unknown }} Verdict
 * @typedef {(params: unknown) => Verdict | null | Promise<Verdict | null>} Check
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
   */
  set(name, schema) {
    const entry = { name, schema };
    // Parameters are always an object.
    if (schema?.type === 'object' && Object.keys(schema).length === 1) this.#byName.delete(name);
    else this.#byName.set(name, entry);
    if (this.#byName.has(name)) this.#compile(entry).catch(() => {});
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
   * @param {unknown} params
   */
  check(key, name, params) {
    const entry = this.#byName.get(name);
    if (!entry) return this.report(key, null);
    const verdict = entry.check ? run(entry.check, params) : this.#compile(entry).then((check) => run(check, params), notLoaded);
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
 * @param {unknown} params
 * @returns {ReturnType<Check>}
 */
function run(check, params) {
  try {
    const verdict = check(params);
    return verdict instanceof Promise ? verdict.catch(unreadable) : verdict;
  } catch (error) {
    return unreadable(error);
  }
}

/** @param {unknown} error */
const unreadable = (error) => invalid(`The parameters cannot be checked: ${error}`);
