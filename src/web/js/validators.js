/**
 * Checks parameters against JSON Schemas. The validator is loaded when the first schema that needs
 * one is registered; until it is there, calls wait, and can be cancelled meanwhile.
 */

/**
 * @typedef {{ code: string, message: string, details?: unknown }} Verdict
 * @typedef {(params: unknown) => Verdict | null} Check
 */
import { invalid, problem } from './errors.js';

/** @type {Promise<(schema: any) => Check> | undefined} */
let loading;

function load() {
  loading ??= import('./json-schema.js').then(
    ({ compile }) => compile,
    (error) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
}

export class Validators {
  /** @type {Map<string, { check?: Check, schema: any }>} */
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
    const entry = { schema };
    // Parameters are an object anyway.
    if (JSON.stringify(schema) === '{"type":"object"}') this.#byName.delete(name);
    else this.#byName.set(name, entry);
    // A failed load is tried again by the first call.
    if (this.#byName.has(name)) this.#compile(entry).catch(() => {});
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

  /** @param {{ check?: Check, schema: any }} entry */
  async #compile(entry) {
    const compile = await load();
    entry.check ??= compile(entry.schema);
    return entry.check;
  }
}

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
