import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { ask, isExecutable, which } from '../command.mjs';

const require = createRequire(import.meta.url);
const home = homedir();
const windowsRoots = [process.env.PROGRAMFILES, process.env['PROGRAMFILES(X86)'], process.env.LOCALAPPDATA]
  .filter((path) => path !== undefined);

/** @returns {string | undefined} a Chromium or Chrome */
export function findChromium() {
  return firstOf([
    () => process.env.CAPHOST_CHROMIUM,
    () => process.env.CHROME_PATH,
    ...['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'].map((name) => () => which(name)),
    () => '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    () => '/Applications/Chromium.app/Contents/MacOS/Chromium',
    ...windowsRoots.map((base) => () => join(base, 'Google', 'Chrome', 'Application', 'chrome.exe')),
    ...windowsRoots.map((base) => () => join(base, 'Chromium', 'Application', 'chrome.exe')),
    () => playwrightExecutable('chromium'),
    () => puppeteerCache('chrome', ['chrome', 'chrome.exe', 'Google Chrome for Testing']),
  ]);
}

/**
 * @param {string} chromium the browser that the driver is for
 * @returns {string | undefined} a chromedriver of the same major version
 */
export function findChromedriver(chromium) {
  const wanted = majorVersion(chromium);
  return firstOf([
    () => process.env.CHROMEDRIVER,
    () => join(dirname(chromium), 'chromedriver'),
    () => which('chromedriver'),
    () => '/usr/lib/chromium/chromedriver',
    () => '/usr/lib/chromium-browser/chromedriver',
    () => process.env.CHROMEWEBDRIVER && join(process.env.CHROMEWEBDRIVER, 'chromedriver'),
    () => puppeteerCache('chromedriver', ['chromedriver', 'chromedriver.exe']),
  ], (path) => majorVersion(path) === wanted);
}

/** @returns {string | undefined} */
export function findFirefox() {
  return firstOf([
    () => process.env.CAPHOST_FIREFOX,
    () => which('firefox'),
    () => which('firefox-esr'),
    () => '/Applications/Firefox.app/Contents/MacOS/firefox',
    ...windowsRoots.map((base) => () => join(base, 'Mozilla Firefox', 'firefox.exe')),
  ]);
}

/** @returns {{ driver: string, browser: string, display: string } | undefined} WebKitGTK's driver and browser, and the X server for its windows */
export function findWebKit() {
  const driver = firstOf([() => process.env.CAPHOST_WEBKIT_DRIVER, () => which('WebKitWebDriver')]);
  const browser = firstOf([() => process.env.CAPHOST_WEBKIT, ...webKitFolders().map((folder) => () => join(folder, 'MiniBrowser'))]);
  const display = which('Xvfb');
  return driver && browser && display ? { driver, browser, display } : undefined;
}

/** The folders in which distributions put the programs of WebKitGTK, the newest first. */
function webKitFolders() {
  const bases = ['/usr/lib', '/usr/libexec', `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`];
  return bases.filter(existsSync).flatMap((base) => readdirSync(base)
    .filter((name) => /^webkit2?gtk-/.test(name))
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .map((name) => join(base, name)));
}

/** @param {string} program @returns {string | undefined} such as `156.0.8078.79` */
export function browserVersion(program) {
  return /(\d+(?:\.\d+){3})/.exec(ask(program, ['--version']) ?? '')?.[1];
}

/** @param {string} program */
const majorVersion = (program) => browserVersion(program)?.split('.')[0];

/**
 * @param {Array<() => string | undefined>} candidates
 * @param {(path: string) => boolean} [suits]
 */
function firstOf(candidates, suits = () => true) {
  for (const candidate of candidates) {
    const path = candidate();
    if (path && isExecutable(path) && suits(path)) return path;
  }
  return undefined;
}

/** @param {'chromium'} name */
function playwrightExecutable(name) {
  try {
    /** @type {typeof import('playwright-core')} */
    const playwright = require('playwright-core');
    return playwright[name].executablePath();
  } catch {
    // Playwright is not installed yet.
    return undefined;
  }
}

/**
 * Searches the downloads of `@puppeteer/browsers`, the newest first.
 *
 * @param {string} product
 * @param {string[]} programs
 */
function puppeteerCache(product, programs) {
  const folder = join(process.env.PUPPETEER_CACHE_DIR ?? join(home, '.cache', 'puppeteer'), product);
  if (!existsSync(folder)) return undefined;
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => programs.some((program) => path.endsWith(program)))
    .map((path) => join(folder, path))
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .find(isExecutable);
}
