/**
 * Checks parameters against JSON Schemas. The validator is loaded when the first schema that needs
 * one is registered; until it is there, calls wait, and can be cancelled meanwhile.
 */

/**
 * @typedef {{ code: string, message: string, details?: unknown }} Verdict
 * @typedef {(params: unknown) => Verdict | null} Check
 * @typedef {{ name: string, schema: any, check?: Check }} Entry
 */
import { invalid, problem, text } from './errors.js';

/** @type {Promise<void> | undefined} */
let loading;
/** Throws for a schema that makes no sense. @type {((schema: any) => Check) | undefined} */
let compile;

function load() {
  loading ??= import('./json-schema.js').then(
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
   * @param {any} schema
   */
  set(name, schema) {
    const entry = { name, schema };
    // Parameters are an object anyway.
    if (JSON.stringify(schema) === '{"type":"object"}') this.#byName.delete(name);
    else this.#byName.set(name, entry);
    // A failed load is tried again by the first call.
    if (this.#byName.has(name)) this.#compile(entry).catch(() => {});
  }

  /**
   * What can be known of a schema before it is registered: nothing while the validator is not there.
   *
   * @param {{ name: string, inputSchema: any }} document
   * @returns {string | undefined}
   */
  problemWith({ name, inputSchema }) {
    try {
      compile?.(inputSchema);
    } catch (error) {
      return senseless(name, error);
    }
    return undefined;
  }

  /** @param {string} name */
  delete(name) {
    this.#byName.delete(name);
  }

  /**
   * Reports the verdict: at once, or when the validator is there.
   *
   * @param {number} key
   * @param {string} name
   * @param {unknown} params
   */
  check(key, name, params) {
    const entry = this.#byName.get(name);
    if (!entry) return this.report(key, null);
    if (entry.check) return this.report(key, run(entry.check, params));
    return void this.#compile(entry).then(
      (check) => this.report(key, run(check, params)),
      () => this.report(key, problem('INTERNAL_ERROR', 'The schema validator could not be loaded')),
    );
  }

  /** @param {Entry} entry @returns {Promise<Check>} rejects when the validator cannot be loaded */
  async #compile(entry) {
    if (!compile) await load();
    return (entry.check ??= checkOf(entry));
  }
}

/** @param {Entry} entry @returns {Check} */
function checkOf({ name, schema }) {
  try {
    return /** @type {NonNullable<typeof compile>} */ (compile)(schema);
  } catch (error) {
    const broken = problem('OPERATION_FAILED', senseless(name, error));
    // It was registered before this could be known.
    console.error('caphost:', broken.message);
    return () => broken;
  }
}

/** @param {string} name @param {unknown} error */
const senseless = (name, error) => `${name}: inputSchema makes no sense: ${text(error)}`;

/**
 * @param {Check} check
 * @param {unknown} params
 * @returns {Verdict | null}
 */
function run(check, params) {
  try {
    return check(params);
  } catch (error) {
    return invalid(`The parameters cannot be checked: ${error}`);
  }
}
