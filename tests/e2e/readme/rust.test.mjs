import assert from 'node:assert/strict';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { build as bundle } from 'esbuild';
import { buildWasm } from '../../../scripts/build/wasm.mjs';
import { glueDir, root } from '../../../scripts/paths.mjs';
import { setUpWasm } from '../../../scripts/setup.mjs';
import { launchPuppeteer } from '../support/browsers.mjs';
import { serveFiles } from '../support/static-server.mjs';
import { block, commands } from './blocks.mjs';

const glue = join(glueDir, 'readme-app');
const dist = join(glueDir, 'readme-app-bundle');

/** @param {string} imports of an import map */
const page = (imports) => `<!doctype html>
<title>A Rust app</title>
<link rel="icon" href="data:,">
<script type="importmap">{ "imports": ${imports} }</script>
<script type="module" src="start.js"></script>`;
const javascript = (/** @type {string} */ body) => ({ body, contentType: 'text/javascript; charset=utf-8' });

/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;
/** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
let browser;

before(async () => {
  const { wasmBindgen } = await setUpWasm();
  await buildWasm({ crate: 'caphost-readme-app', profile: 'dev', out: glue, name: 'my_app', wasmBindgen });
  // As any author would: only of what wasm-bindgen wrote, and without plugins.
  await bundle({ entryPoints: [join(glue, 'my_app.js')], bundle: true, splitting: true, format: 'esm', outdir: dist, logOverride: { 'duplicate-object-key': 'silent' } });
  copyFileSync(join(glue, 'my_app_bg.wasm'), join(dist, 'my_app_bg.wasm'));
  server = await serveFiles({
    folders: { '/bundled/dist/': dist, '/mapped/dist/': glue },
    pages: {
      '/bundled/': page('{}'),
      '/mapped/': page('{}'),
      '/bundled/start.js': javascript(block('start.js')),
      '/mapped/start.js': javascript(block('start.js')),
    },
  });
  browser = await launchPuppeteer();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

test('what was built is the Rust app of the README, and built as it says', () => {
  assert.equal(readFileSync(join(root, 'tests', 'readme-app', 'src', 'app.rs'), 'utf8'), block('src/lib.rs'));
  const cargo = readFileSync(join(root, 'tests', 'readme-app', 'Cargo.toml'), 'utf8');
  assert.match(cargo, /^\[lib\]\ncrate-type = \["cdylib"\]$/m);
  for (const [, name] of block('Cargo.toml').matchAll(/^([\w-]+) = ("|\{)/gm)) assert.match(cargo, new RegExp(`^${name} = `, 'm'));
  assert.ok(commands.some((line) => line.startsWith('wasm-bindgen --target web ')));
  assert.ok(commands.some((line) => /^npx esbuild \S+ --bundle --splitting --format=esm /.test(line)));
});

for (const way of ['bundled', 'mapped']) {
  test(`the Rust app runs in a page, ${way}`, async (t) => {
    const app = await browser.newPage();
    t.after(() => app.close());
    await app.goto(server.url(`/${way}/`));
    await app.waitForFunction('window.abp');
    const result = await app.evaluate(async () => {
      const { abp } = /** @type {any} */ (window);
      /** @type {any[]} */
      const reports = [];
      Object.assign(window, { __abp_progress: (/** @type {any} */ info) => reports.push(info) });
      await abp.initialize({ agent: { name: 't', version: '1' }, protocolVersion: '0.1' });
      const counted = await abp.call('primes.count', { below: 100 });
      const refused = await abp.call('primes.count', { below: 'many' });
      const long = abp.call('primes.count', { below: 4_000_000_000 }, { callId: 'long', progressToken: 'p' });
      // Two frames are painted while it computes.
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      return { counted, refused, confirmed: await abp.cancel('long'), long: await long, reported: reports.length };
    });
    assert.equal(result.counted.data, 25);
    assert.equal(result.refused.error.code, 'INVALID_TYPE');
    assert.equal(result.refused.error.details.path, 'below');
    assert.deepEqual(result.confirmed, { callId: 'long', cancelled: true, metadata: { stop: 'dropped' } });
    assert.deepEqual(result.long, { success: false, cancelled: true, metadata: { stop: 'dropped' } });
    assert.ok(result.reported > 0);
  });
}
