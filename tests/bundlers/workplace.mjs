/** Where the tests here build apps: the package is installed as a user has it, and a browser is there. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { packageDir } from '../../scripts/paths.mjs';
import { launchPuppeteer } from '../e2e/support/browsers.mjs';

/** Has the bundlers and frameworks in its `node_modules`. */
export const here = dirname(fileURLToPath(import.meta.url));

/** @typedef {{ work: string, browser: Awaited<ReturnType<typeof launchPuppeteer>> }} Workplace an empty folder below `here`, and a browser */

/** @returns {Workplace} filled before the first test, and taken away after the last */
export function useWorkplace() {
  const place = /** @type {Workplace} */ ({});
  before(async () => {
    // Where bundlers look for packages, and a copy rather than a link, which some treat as sources of one's own.
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
