/**
 * Runs the vectors of tests/conformance against anything that can call and cancel.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../scripts/paths.mjs';

/**
 * @typedef {object} Driver one session on a host
 * @property {(capability: string, params: unknown, options: any) => Promise<any>} call
 * @property {(callId: string, reason?: string) => Promise<any>} cancel
 * @property {() => Promise<unknown>} shutdown
 * @property {boolean} [unordered] answers come each on a way of its own, so their order says nothing
 *
 * @typedef {{ name: string, source: string, session?: boolean, steps: any[] }} Vector
 */

/** @returns {Vector[]} */
export function vectors() {
  const folder = join(root, 'tests', 'conformance');
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
}

/**
 * @param {Vector} vector
 * @param {Driver} driver
 * @param {string} run makes this run's callIds its own, for hosts that remember
 */
export async function runVector(vector, driver, run) {
  /** @type {Map<string, Promise<any>>} */
  const named = new Map();
  /** @type {string[]} */
  const order = [];
  /**
   * @param {any} step
   * @param {Promise<any>} promise
   */
  const begin = async (step, promise) => {
    if (!step.as) return check(await promise, step.with, step);
    named.set(
      step.as,
      promise.then((value) => {
        order.push(step.as);
        return value;
      }),
    );
  };
  for (const original of vector.steps) {
    const step = own(original, run);
    if (step.call) await begin(step, driver.call(step.call, step.params, step.options));
    else if (step.cancel) await begin(step, driver.cancel(step.cancel, step.reason));
    else if (step.settles) check(await named.get(step.settles), step.with, step);
    else if (step.shutdown) await driver.shutdown();
    else if (step.order && driver.unordered) continue;
    else if (step.order) assert.deepEqual(order.filter((name) => step.order.includes(name)), step.order);
    else assert.fail(`no such step: ${JSON.stringify(step)}`);
  }
}

/**
 * Gives a step's callIds a prefix of this run, and unfolds what JSON cannot say shortly.
 *
 * @param {any} value
 * @param {string} run
 * @param {string} [key]
 * @returns {any}
 */
function own(value, run, key) {
  if (typeof value === 'string' && (key === 'callId' || key === 'cancel') && value !== '') return run + value;
  if (typeof value !== 'object' || value === null) return value;
  if (value.$repeat) return value.$repeat[0].repeat(value.$repeat[1]);
  if (Array.isArray(value)) return value.map((item) => own(item, run));
  const copy = {};
  for (const [name, property] of Object.entries(value)) {
    Object.defineProperty(copy, name, {
      value: own(property, run, name),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return copy;
}

/**
 * @param {any} actual
 * @param {any} pattern
 * @param {unknown} step
 */
function check(actual, pattern, step) {
  const said = `${JSON.stringify(step).slice(0, 200)}\ngot ${JSON.stringify(actual)}`;
  const { metadata: _metadata, ...rest } = actual ?? {};
  match(pattern && 'metadata' in pattern ? actual : actual && rest, pattern, said);
}

/**
 * @param {any} actual
 * @param {any} pattern
 * @param {string} said
 */
function match(actual, pattern, said) {
  if (pattern?.$any) return;
  if (typeof pattern !== 'object' || pattern === null) return assert.deepEqual(actual, pattern, said);
  const wanted = pattern.$has ?? pattern;
  assert.equal(typeof actual, 'object', said);
  for (const [key, value] of Object.entries(wanted)) {
    if (value?.$absent) assert.ok(!(key in actual), said);
    else match(actual[key], value, said);
  }
  if (!pattern.$has) {
    const extra = Object.keys(actual).filter((key) => !(key in wanted));
    assert.deepEqual(extra, [], said);
  }
}
