import { homedir } from 'node:os';
import { join } from 'node:path';
import { browserVersion, findChromedriver, findChromium, findFirefox } from '../browser/find.mjs';
import { run } from '../command.mjs';
import { root } from '../paths.mjs';
import { installWithApt, isRoot } from './system-packages.mjs';

/**
 * Finds a Chromium, or installs one.
 *
 * @param {(line: string) => void} say
 * @returns {Promise<string>} its path
 */
export async function ensureChromium(say) {
  for (const get of [undefined, installFromDebian, downloadWithPlaywright]) {
    await get?.(say, ['chromium', 'chromium-driver']);
    const found = findChromium();
    if (found !== undefined) return found;
  }
  throw new Error('no Chromium was found or installed: install one, or name it in CAPHOST_CHROMIUM');
}

/** Installs a Firefox where that is easy. Without a Firefox its tests are skipped. @param {(line: string) => void} say */
export async function ensureFirefox(say) {
  if (findFirefox() === undefined) await installFromDebian(say, ['firefox-esr']);
  if (findFirefox() === undefined) say('there is no Firefox, so its tests are skipped');
}

/**
 * Finds the chromedriver for a Chromium, or installs it.
 *
 * @param {string} chromium
 * @param {(line: string) => void} say
 * @returns {Promise<string>} its path
 */
export async function ensureChromedriver(chromium, say) {
  const present = findChromedriver(chromium);
  if (present !== undefined) return present;
  if (chromium.startsWith('/usr/')) await installFromDebian(say, ['chromium-driver']);
  const installed = findChromedriver(chromium);
  const version = browserVersion(chromium);
  if (installed !== undefined) return installed;
  if (version === undefined) throw new Error(`${chromium} does not say its version`);
  say(`downloading chromedriver ${version}, for ${chromium} (a few seconds)`);
  const cli = join(root, 'node_modules', '@puppeteer', 'browsers', 'lib', 'main-cli.js');
  const cache = process.env.PUPPETEER_CACHE_DIR ?? join(homedir(), '.cache', 'puppeteer');
  await run(process.execPath, [cli, 'install', `chromedriver@${version}`, '--path', cache], { toStderr: true });
  const downloaded = findChromedriver(chromium);
  if (downloaded === undefined) throw new Error(`no chromedriver ${version} was found or installed: install it, or name it in CHROMEDRIVER`);
  return downloaded;
}

/**
 * Installs from Debian only: the package `chromium` of Ubuntu is a snap, which does not work in a container.
 *
 * @param {(line: string) => void} say
 * @param {string[]} packages
 */
const installFromDebian = (say, packages) => installWithApt(say, packages, /^ID="?debian"?$/m);

/** @param {(line: string) => void} say */
async function downloadWithPlaywright(say) {
  say('downloading Chromium with playwright-core (about a minute)');
  const cli = join(root, 'node_modules', 'playwright-core', 'cli.js');
  // Only root can install the system libraries that Chromium needs.
  const dependencies = process.platform === 'linux' && isRoot() ? ['--with-deps'] : [];
  await run(process.execPath, [cli, 'install', ...dependencies, 'chromium'], { toStderr: true });
}
