import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { browserVersion, findChromedriver, findChromium } from '../browser/find.mjs';
import { must, run, which } from '../command.mjs';
import { root } from '../paths.mjs';

/**
 * Finds a Chromium, or gets one.
 *
 * @param {(line: string) => void} say
 * @returns {Promise<string>} its path
 */
export async function ensureChromium(say) {
  const present = findChromium();
  if (present !== undefined) return present;
  if (debianAsRoot()) {
    await installFromDebian(say, ['chromium', 'chromium-driver']);
  } else {
    say('no Chromium found: downloading one with playwright-core (about a minute)');
    const cli = join(root, 'node_modules', 'playwright-core', 'cli.js');
    await must(process.execPath, [cli, 'install', 'chromium'], { toStderr: true });
  }
  const found = findChromium();
  if (found === undefined) throw new Error('no Chromium could be had: install one, or name it in CAPHOST_CHROMIUM');
  return found;
}

/**
 * Finds the chromedriver that belongs to a Chromium, or gets it.
 *
 * @param {string} chromium
 * @param {(line: string) => void} say
 * @returns {Promise<string | undefined>} its path; undefined leaves the choice to wasm-pack, which downloads one
 */
export async function ensureChromedriver(chromium, say) {
  const present = findChromedriver(chromium);
  if (present !== undefined) return present;
  if (debianAsRoot() && chromium.startsWith('/usr/')) {
    await installFromDebian(say, ['chromium-driver']);
  } else {
    const version = browserVersion(chromium);
    if (version === undefined) return undefined;
    say(`no chromedriver for ${chromium}: downloading ${version} (a few seconds)`);
    const cli = join(root, 'node_modules', '@puppeteer', 'browsers', 'lib', 'main-cli.js');
    const cache = process.env.PUPPETEER_CACHE_DIR ?? join(homedir(), '.cache', 'puppeteer');
    await run(process.execPath, [cli, 'install', `chromedriver@${version}`, '--path', cache], { toStderr: true });
  }
  return findChromedriver(chromium);
}

const debianAsRoot = () => existsSync('/etc/debian_version') && process.getuid?.() === 0 && which('apt-get') !== undefined;

/** @param {(line: string) => void} say @param {string[]} packages */
async function installFromDebian(say, packages) {
  say(`installing the Debian packages ${packages.join(' and ')} (about a minute)`);
  const options = { toStderr: true, env: { DEBIAN_FRONTEND: 'noninteractive' } };
  await must('apt-get', ['update', '-q'], options);
  await must('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...packages], options);
}
