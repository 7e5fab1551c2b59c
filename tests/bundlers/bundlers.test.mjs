/**
 * Real bundlers build an app that imports the package as usual, and a browser runs the app.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { serveFiles } from '../e2e/support/static-server.mjs';
import { useWorkplace } from './workplace.mjs';

const require = createRequire(import.meta.url);
/** Loads a tool in the version of the lock file in this folder. @param {string} name @returns {Promise<any>} */
const tool = (name) => import(name);

const place = useWorkplace();

/** @param {string} host @param {string} agent */
const app = (host, agent) => `
import { createHost } from '${host}';
import { connectPort } from '${agent}';

async function run() {
  const host = await createHost({ app: { id: 'bundled', name: 'Bundled', version: '1.0.0' } });
  const inputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  host.register('double', { inputSchema }, ({ n }) => 2 * n);
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const agent = await connectPort(port2);
  const refused = await agent.call('double', { n: 'x' });
  return (await agent.invoke('double', { n: 21 })) + ' ' + refused.error.code;
}
run().then((said) => (document.title = said), (error) => (document.title = String(error)));
`;
const page = (/** @type {string} */ script) => `<!doctype html><link rel="icon" href="data:,"><script type="module" src="${script}"></script>`;

/** Makes a folder with the app. @param {string} name @param {string} [host] @param {string} [agent] */
function appIn(name, host = 'caphost', agent = host === 'caphost' ? 'caphost/agent' : host) {
  const folder = join(place.work, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'main.js'), app(host, agent));
  writeFileSync(join(folder, 'index.html'), page('./main.js'));
  return { folder, entry: join(folder, 'main.js'), dist: join(folder, 'dist') };
}

/** @param {string} url @returns {Promise<string>} the text that the app shows */
async function said(url) {
  const opened = await place.browser.newPage();
  try {
    await opened.goto(url);
    await opened.waitForFunction(() => document.title !== '', { timeout: 20_000 });
    return await opened.title();
  } finally {
    await opened.close();
  }
}

/** @param {string} dist @param {object} [options] @param {string} [options.script] @param {Record<string, string>} [options.headers] */
async function saidBy(dist, { script, headers } = {}) {
  /** @type {Record<string, string>} */
  const pages = script === undefined ? {} : { '/index.html': page(script) };
  const server = await serveFiles({ folders: { '/': `${dist}/` }, pages, ...(headers && { headers }) });
  try {
    return await said(server.url('/index.html'));
  } finally {
    await server.close();
  }
}

const WORKS = '42 INVALID_TYPE';

for (const [vite, version] of [['vite', '8'], ['vite5', '5']]) {
  test(`Vite ${version} builds it`, { timeout: 120_000 }, async () => {
    const { folder, dist } = appIn(`vite-build-${version}`);
    const { build } = await tool(String(vite));
    await build({ root: folder, logLevel: 'error', configFile: false });
    assert.equal(await saidBy(dist), WORKS);
  });
}

/** @param {string} vite @param {string} folder @param {object} config */
async function saidInDevelopment(vite, folder, config) {
  const { createServer } = await tool(vite);
  const server = await createServer({ root: folder, logLevel: 'error', configFile: false, server: { host: '127.0.0.1', port: 0, hmr: false }, cacheDir: join(folder, '.vite'), ...config });
  try {
    await server.listen();
    return await said(server.resolvedUrls.local[0]);
  } finally {
    await server.close();
  }
}

test('Vite 8 serves it in development', { timeout: 120_000 }, async () => {
  assert.equal(await saidInDevelopment('vite', appIn('vite-dev').folder, {}), WORKS);
});

test('Vite 5 in development: the error names what helps, and it helps', { timeout: 120_000 }, async () => {
  const error = await saidInDevelopment('vite5', appIn('vite5-dev').folder, {});
  assert.match(error, /^CapHostError: The wasm of caphost is not at http:.*host\.wasm.*: what is there is something else\..*optimizeDeps: \{ exclude: \['caphost'\] \}/);
  assert.equal(await saidInDevelopment('vite5', appIn('vite5-dev-excluded').folder, { optimizeDeps: { exclude: ['caphost'] } }), WORKS);
  assert.equal(await saidInDevelopment('vite5', appIn('vite5-dev-inline', 'caphost/inline').folder, {}), WORKS);
});

test('esbuild: the error names what helps, and it helps', { timeout: 120_000 }, async () => {
  const { build } = await tool('esbuild');
  const options = (/** @type {{ entry: string, dist: string }} */ { entry, dist }) => ({ entryPoints: [entry], outdir: dist, bundle: true, format: 'esm', logLevel: 'error' });
  const beside = appIn('esbuild');
  await build(options(beside));
  assert.match(await saidBy(beside.dist, { script: '/main.js' }), /^CapHostError: The wasm of caphost is not at .*: 404.*import from 'caphost\/inline'/);
  for (const format of ['esm', 'iife']) {
    const inline = appIn(`esbuild-inline-${format}`, 'caphost/inline');
    await build({ ...options(inline), format, splitting: false });
    assert.equal(await saidBy(inline.dist, { script: '/main.js' }), WORKS, format);
  }
});

test('webpack builds it, with the wasm as a file and inside', { timeout: 120_000 }, async () => {
  const { default: webpack } = await tool('webpack');
  for (const from of ['caphost', 'caphost/inline']) {
    const { entry, dist } = appIn(`webpack-${from.length}`, from);
    await new Promise((resolve, reject) => {
      const done = (/** @type {any} */ error, /** @type {any} */ stats) => (error || stats.hasErrors() ? reject(error ?? new Error(stats.toString())) : resolve(stats));
      webpack({ mode: 'production', entry, output: { path: dist, publicPath: '/' }, performance: { hints: false } }, done);
    });
    assert.equal(await saidBy(dist, { script: '/main.js' }), WORKS, from);
  }
});

test('Rollup builds it with the wasm inside', { timeout: 120_000 }, async () => {
  const [{ rollup }, { nodeResolve }] = await Promise.all([tool('rollup'), tool('@rollup/plugin-node-resolve')]);
  const { entry, dist } = appIn('rollup', 'caphost/inline');
  const built = await rollup({ input: entry, plugins: [nodeResolve({ browser: true })] });
  await built.write({ dir: dist, format: 'es' });
  await built.close();
  assert.equal(await saidBy(dist, { script: '/main.js' }), WORKS);
});

test('Parcel builds it, with the wasm as a file and inside', { timeout: 180_000 }, async () => {
  const { Parcel } = await tool('@parcel/core');
  for (const from of ['caphost', 'caphost/inline']) {
    const { folder, dist } = appIn(`parcel-${from.length}`, from);
    await new Parcel({
      entries: join(folder, 'index.html'), defaultConfig: require.resolve('@parcel/config-default'), mode: 'production',
      cacheDir: join(folder, '.cache'), shouldDisableCache: true, defaultTargetOptions: { distDir: dist },
    }).run();
    assert.equal(await saidBy(dist), WORKS, from);
  }
});

test('the file with the wasm inside has the worker inside as well', { timeout: 60_000 }, async () => {
  const { build } = await tool('esbuild');
  const { entry, folder, dist } = appIn('worker', 'caphost/inline');
  writeFileSync(entry, `
    import { createHost, connectPort } from 'caphost/inline';
    const host = await createHost({ app: { id: 'bundled', name: 'Bundled', version: '1.0.0' } });
    host.registerWorker('spin', {}, '/handler.js');
    const { port1, port2 } = new MessageChannel();
    host.acceptPort(port1);
    const agent = await connectPort(port2);
    setTimeout(() => agent.cancel('endless'), 500);
    const endless = await agent.call('spin', { forever: true }, { callId: 'endless' });
    document.title = (await agent.invoke('spin', { n: 21 })) + ' ' + endless.metadata.stop;`);
  await build({ entryPoints: [entry], outdir: dist, bundle: true, format: 'esm', logLevel: 'error' });
  writeFileSync(join(folder, 'dist', 'handler.js'), 'export default ({ n, forever }) => { while (forever); return 2 * n; };');
  const headers = { 'content-security-policy': "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src blob:" };
  assert.equal(await saidBy(dist, { script: '/main.js', headers }), '42 terminated');
});

test('the file with the wasm inside fetches nothing, and needs wasm-unsafe-eval of a CSP', { timeout: 60_000 }, async () => {
  const { build } = await tool('esbuild');
  const { entry, dist } = appIn('csp', 'caphost/inline');
  await build({ entryPoints: [entry], outdir: dist, bundle: true, format: 'esm', logLevel: 'error' });
  const strict = "default-src 'none'; script-src 'self'";
  const allowed = { 'content-security-policy': `${strict} 'wasm-unsafe-eval'` };
  assert.equal(await saidBy(dist, { script: '/main.js', headers: allowed }), WORKS);
  assert.match(await saidBy(dist, { script: '/main.js', headers: { 'content-security-policy': strict } }), /^CapHostError: The Content-Security-Policy of this page forbids WebAssembly: add 'wasm-unsafe-eval'/);
});
