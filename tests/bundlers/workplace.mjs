/** A workplace for tests that build apps, with the package installed as for a user, and a browser. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { packageDir, root } from '../../scripts/paths.mjs';
import { launchPuppeteer } from '../e2e/support/browsers.mjs';

/** The folder whose `node_modules` has the bundlers and frameworks. */
export const here = dirname(fileURLToPath(import.meta.url));

/** @typedef {{ work: string, browser: Awaited<ReturnType<typeof launchPuppeteer>> }} Workplace an empty folder below `here`, and a browser */

/** @returns {Workplace} filled before the first test, and removed after the last */
export function useWorkplace() {
  const place = /** @type {Workplace} */ ({});
  before(async () => {
    // Bundlers look for packages here. It is a copy, because some bundlers treat a link as sources of
    // the app.
    const installed = join(here, 'node_modules', 'caphost');
    rmSync(installed, { recursive: true, force: true });
    cpSync(packageDir, installed, { recursive: true });
    place.work = mkdtempSync(join(here, '.apps-'));
    place.browser = await launchPuppeteer();
  });
  after(async () => {
    await place.browser?.close();
    if (place.work) rmSync(place.work, { recursive: true, force: true });
  });
  return place;
}

/**
 * Copies the sources of an example, as a user has them.
 *
 * @param {Workplace} place
 * @param {string} name
 * @returns {string} the folder
 */
export function copyExample(place, name) {
  const folder = join(place.work, name);
  cpSync(join(root, 'examples', name), folder, { recursive: true, filter: (path) => !path.includes('node_modules') && !path.endsWith('dist') });
  return folder;
}

/**
 * Opens a page, and collects the complaints in its console.
 *
 * @param {Workplace} place
 * @param {import('node:test').TestContext} t
 * @param {string} url
 */
export async function openWatched(place, t, url) {
  const page = await place.browser.newPage();
  t.after(() => page.close());
  /** @type {string[]} */
  const complaints = [];
  page.on('console', (message) => ['error', 'warn'].includes(message.type()) && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(url);
  return { page, complaints };
}
