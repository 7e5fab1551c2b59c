/**
 * The vectors of tests/conformance, and a function that runs them in a page.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../scripts/paths.mjs';

export { endsTold } from '../fixtures/conformance/ends.js';
export { runVector } from '../fixtures/conformance/run-vector.js';

/**
 * @typedef {import('../fixtures/conformance/run-vector.js').Driver} Driver
 * @typedef {import('../fixtures/conformance/run-vector.js').Vector} Vector
 */

/** @returns {Vector[]} */
export function vectors() {
  const folder = join(root, 'tests', 'conformance');
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
}

/**
 * The vectors for an agent that lacks some features.
 *
 * @param {string[]} lacks
 */
export const vectorsWithout = (...lacks) => vectors().filter(({ needs = [] }) => !needs.some((it) => lacks.includes(it)));

/** The vectors for an agent that opens its session when it connects. */
export const vectorsInSession = () => vectors().filter(({ session }) => session !== false);

/**
 * Runs a vector in a page whose `globalThis.driver` is a driver.
 *
 * @param {import('puppeteer-core').Page} page
 * @param {Vector} vector
 */
export async function runInPage(page, vector) {
  // Passed as text, because automation libraries treat `__proto__` differently.
  await page.evaluate(async (text) => {
    const { runVector } = await import(`${location.origin}/conformance/run-vector.js`);
    await runVector(JSON.parse(text), /** @type {any} */ (globalThis).driver);
  }, JSON.stringify(vector));
}
