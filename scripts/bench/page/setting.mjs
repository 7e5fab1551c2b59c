import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { launchPuppeteer } from '../../../tests/e2e/support/browsers.mjs';
import { buildRustApp } from '../../../tests/e2e/support/rust-app.mjs';
import { serveFiles } from '../../../tests/e2e/support/static-server.mjs';
import { packageDir, root } from '../../paths.mjs';
import { bundleApps } from './apps.mjs';
import { watchMemory } from './memory.mjs';
import { bundlePeers } from './peers.mjs';

/**
 * The browser, the files that are served to it, and the contenders.
 *
 * @typedef {{ name: string, at: string, folder: string }} Build a build of this package; `at`: the path at which it is served
 *
 * @typedef {object} Bench
 * @property {boolean} quick
 * @property {Build[]} builds
 * @property {string[]} peers
 * @property {Record<string, string>} versions of the peers
 * @property {string[]} missing the things that could not be measured, with the reason
 * @property {import('./apps.mjs').App[]} apps
 * @property {string | undefined} rust the path of the Rust app's module
 * @property {string} browser the version of the browser
 * @property {string} origin
 * @property {(options?: { watchMemory?: boolean }) => Promise<import('puppeteer-core').Page>} newPage opens an empty page of the server's origin
 * @property {(module: string, name: string, ...given: any[]) => Promise<any>} inFreshPage calls an export of a module of in-page/ in a new page
 * @property {() => Promise<void>} close
 */

const empty = '<!doctype html><title>Benchmark</title><link rel="icon" href="data:,">';
/** The headers that isolate a page: its clock then has steps of 5 µs, otherwise of 100 µs. */
const isolated = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * @param {{ quick: boolean, against: string | undefined }} options `against`: the folder of another build
 * @returns {Promise<Bench>}
 */
export async function openBench({ quick, against }) {
  if (!existsSync(join(packageDir, 'index.js'))) throw new Error(`${packageDir} is missing: \`npm run build:package\` builds it`);
  const builds = [{ name: 'caphost', at: '/caphost', folder: packageDir }];
  if (against !== undefined) {
    const folder = resolve(against);
    if (!existsSync(join(folder, 'index.js'))) throw new Error(`${folder} is no built package`);
    builds.push({ name: 'before', at: '/before', folder });
  }
  const { peers, missing, folder } = await bundlePeers();
  const { apps, folder: appFolder } = await bundleApps(peers.map(({ name }) => name), builds);
  const rustFolder = await buildRustApp('demo').catch((error) => void missing.push(`the handler in Rust: ${error.message.split('\n')[0]}`));
  const server = await serveFiles({
    folders: {
      '/bench/': join(root, 'scripts', 'bench', 'page'),
      '/peers/': folder,
      '/apps/': appFolder,
      ...Object.fromEntries(builds.map((build) => [`${build.at}/`, build.folder])),
      ...(rustFolder && { '/rust/': rustFolder }),
    },
    pages: { '/empty': { body: empty, headers: isolated } },
    headers: isolated,
  });
  // Compiled code is kept: otherwise a contender whose turn comes late is compiled again in each
  // round.
  const launched = await launchPuppeteer({ args: ['--enable-features=WebMCP', '--js-flags=--expose-gc --no-flush-bytecode'] });
  const newPage = async (/** @type {{ watchMemory?: boolean }} */ options = {}) => {
    const page = await launched.newPage();
    if (options.watchMemory) await page.evaluateOnNewDocument(watchMemory);
    await page.goto(server.url('/empty'));
    return page;
  };
  const first = await newPage();
  if (!(await first.evaluate("'modelContext' in document"))) missing.push('native WebMCP is not there in this browser');
  await first.close();
  return {
    quick, builds, missing, apps, newPage,
    peers: peers.map(({ name }) => name),
    versions: Object.fromEntries(peers.map(({ name, version }) => [name, version])),
    rust: rustFolder && '/rust/caphost_test_app.js',
    browser: launched.version,
    origin: server.origin,
    async inFreshPage(module, name, ...given) {
      const page = await newPage();
      try {
        const work = async (/** @type {string} */ from, /** @type {string} */ what, /** @type {any[]} */ args) => (await import(/** @type {any} */ (`/bench/in-page/${from}.mjs`)))[what](...args);
        return await page.evaluate(work, module, name, given);
      } finally {
        await page.close();
      }
    },
    async close() {
      await launched.close();
      await server.close();
    },
  };
}

/** @param {string} folder @returns {string} */
export const versionOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
