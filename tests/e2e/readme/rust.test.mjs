import assert from 'node:assert/strict';
import { copyFileSync, cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { build as bundle } from 'esbuild';
import { buildWasm } from '../../../scripts/build/wasm.mjs';
import { glueDir, root } from '../../../scripts/paths.mjs';
import { setUpWasm } from '../../../scripts/setup.mjs';
import { commandsOf, startLine } from '../examples/readme.mjs';
import { launchPuppeteer } from '../support/browsers.mjs';
import { click, fill } from '../support/hands.mjs';
import { serveFiles } from '../support/static-server.mjs';
import { block, commands } from './blocks.mjs';

const glue = join(glueDir, 'readme-app');
const dist = join(glueDir, 'readme-app-bundle');
const workers = join(glueDir, 'readme-workers');

/** @param {string} imports of an import map */
const page = (imports) => `<!doctype html>
<title>A Rust app</title>
<link rel="icon" href="data:,">
<script type="importmap">{ "imports": ${imports} }</script>
<script type="module" src="start.js"></script>`;
const example = (/** @type {string[]} */ ...path) => readFileSync(join(root, 'examples', 'rust', ...path), 'utf8');
const workersExample = (/** @type {string[]} */ ...path) => readFileSync(join(root, 'examples', 'rust-worker', ...path), 'utf8');
/** The headers that isolate a page: the flag for a computing worker needs shared memory. */
const isolated = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };
const javascript = (/** @type {string} */ body) => ({ body, contentType: 'text/javascript; charset=utf-8' });

/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;
/** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
let browser;

before(async () => {
  const { wasmBindgen } = await setUpWasm();
  await buildWasm({ crate: 'caphost-example-rust', library: 'my_app', profile: 'dev', out: glue, name: 'my_app', wasmBindgen });
  await buildWasm({ crate: 'caphost-example-rust-worker', library: 'primes', profile: 'dev', out: workers, name: 'primes', wasmBindgen });
  // As authors do: bundles only the output of wasm-bindgen, without plugins.
  await bundle({ entryPoints: [join(glue, 'my_app.js')], bundle: true, splitting: true, format: 'esm', outdir: dist, logOverride: { 'duplicate-object-key': 'silent' } });
  copyFileSync(join(glue, 'my_app_bg.wasm'), join(dist, 'my_app_bg.wasm'));
  server = await serveFiles({
    folders: { '/bundled/pkg/': dist, '/mapped/pkg/': glue, '/workers/pkg/': workers },
    pages: {
      '/bundled/': page('{}'),
      '/mapped/': page('{}'),
      '/bundled/start.js': javascript(block('start.js')),
      '/mapped/start.js': javascript(block('start.js')),
      '/workers/': workersExample('index.html'),
      '/workers/start.js': javascript(workersExample('start.js')),
    },
    headers: isolated,
  });
  browser = await launchPuppeteer();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

test('the built app is the Rust app of the documentation, built as described', () => {
  assert.equal(example('src', 'app.rs'), block('src/lib.rs'));
  // The suite `wasm` runs this file.
  assert.equal(example('tests', 'primes.rs'), `#![cfg(target_arch = "wasm32")]\n\n${block('tests/primes.rs')}`);
  const cargo = example('Cargo.toml');
  const [lib, dependencies] = block('Cargo.toml').split(/^\[lib\]$/m)[1]?.split(/^\[dependencies\]$/m) ?? [];
  assert.match(cargo, new RegExp(`^\\[lib\\]\nname = "my_app"${lib?.trimEnd().replace(/[[\]]/g, '\\$&')}$`, 'm'));
  for (const line of dependencies?.trim().split('\n') ?? []) {
    if (!line.startsWith('caphost')) assert.ok(cargo.includes(`\n${line}\n`), line);
  }
  assert.match(cargo, /^caphost = \{ path = "..\/..", features = \["macros", "serde_json"\] \}$/m);
  assert.equal(block('.cargo/config.toml'), example('.cargo', 'config.toml'));
  assert.ok(commands.includes('wasm-pack build --target web'));
  assert.ok(commands.includes('wasm-pack test --headless --chrome'));
});

test('the app exports only its own functions, with their types', () => {
  const types = readFileSync(join(glue, 'my_app.d.ts'), 'utf8');
  // wasm-bindgen's own functions for loading, and the module's table of functions, follow.
  assert.equal(types.split('export type InitInput')[0]?.replace(/^\/\*.*\*\/$/gm, '').trim(), 'export function run(): void;');
  const exported = readFileSync(join(glue, 'my_app.js'), 'utf8').match(/^export .*/gm);
  assert.deepEqual(exported, ['export function run() {', 'export { initSync, __wbg_init as default };']);
});

for (const way of ['bundled', 'mapped']) {
  test(`the Rust app runs in a page, ${way}`, async (t) => {
    const app = await browser.newPage();
    t.after(() => app.close());
    await app.goto(server.url(`/${way}/`));
    await app.waitForFunction('window.abp');
    // As in the page's console.
    const typed = block('console.js').replace(/^await (abp\.call.*)$/m, 'return await $1');
    assert.equal(/** @type {any} */ (await app.evaluate(`(async () => {\n${typed}\n})()`)).data, 25);
    const result = await app.evaluate(async () => {
      const { abp } = /** @type {any} */ (window);
      /** @type {any[]} */
      const reports = [];
      Object.assign(window, { __abp_progress: (/** @type {any} */ info) => reports.push(info) });
      const counted = await abp.call('primes.count', { below: 100 });
      const refused = await abp.call('primes.count', { below: 'many' });
      const long = abp.call('primes.count', { below: 4_000_000_000 }, { callId: 'long', progressToken: 'p' });
      // Frames are painted while it computes: two frames, and more until it has reported progress.
      const painted = () => new Promise((resolve) => requestAnimationFrame(resolve));
      await painted();
      do await painted();
      while (reports.length === 0);
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

test('the app with workers is the example of the page on workers', () => {
  const [, code] = /^```rust\n(.*?)^```$/ms.exec(readFileSync(join(root, 'docs', 'workers.md'), 'utf8')) ?? [];
  assert.equal(workersExample('src', 'app.rs'), code);
});

for (const { name, folder, stopped } of [
  { name: 'rust', folder: glue, stopped: 'Stopped: dropped' },
  { name: 'rust-worker', folder: workers, stopped: 'Stopped: terminated' },
  // The handler checks whether to stop, and returns.
  { name: 'rust-worker', folder: undefined, stopped: 'Stopped: returned' },
]) {
  test(`the page of the example ${name} counts, and stops, ${folder ? 'served as its README says' : 'and with the headers that it names'}`, async (t) => {
    const page = await browser.newPage();
    t.after(() => page.close());
    if (folder) {
      // Does the work of wasm-pack, which is not installed for the tests.
      cpSync(folder, join(root, 'examples', name, 'pkg'), { recursive: true });
      const { url } = await startLine(t, String(commandsOf(name).at(-1)));
      await page.goto(url);
    } else {
      await page.goto(server.url('/workers/'));
    }
    await page.waitForFunction('window.abp?.initialized');
    const said = (/** @type {string} */ text) => page.waitForFunction((it) => document.getElementById('said')?.textContent === it, {}, text);
    await fill(page, '#below', '100');
    await click(page, '#count');
    await said('25 primes');
    await fill(page, '#below', '4000000000');
    await click(page, '#count');
    await said('Counting…');
    await click(page, '#stop');
    await said(stopped);
  });
}
