import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { must } from '../command.mjs';
import { demoDir, glueDir, root } from '../paths.mjs';
import { oneCopyOfSnippets } from './snippets.mjs';
import { filesUnder, unlessDone } from './stamp.mjs';
import { bundleWorker } from './package.mjs';
import { buildWasm, copyInto } from './wasm.mjs';

const page = join(root, 'www', 'page');
const manifestLink = /<link rel="abp-manifest" href="\/abp\.json"\s*\/?>/;

/**
 * Builds the demo page into www/dist/: its wasm, its bundled modules, its other files unchanged,
 * and the manifest of the capabilities that it registers.
 *
 * @param {string} wasmBindgen the folder that holds the program
 */
export async function buildDemo(wasmBindgen) {
  const glue = join(glueDir, 'demo');
  // Without wasm-opt: it takes half a minute, and its -O3 makes the module larger after
  // compression.
  await buildWasm({ crate: 'caphost-demo', profile: 'demo', out: glue, name: 'caphost_demo', wasmBindgen });
  await unlessDone({
    name: 'demo',
    inputs: [
      page,
      join(root, 'src', 'web', 'js'),
      join(root, 'www', 'src'),
      join(glue, 'caphost_demo.js'),
      join(glue, 'caphost_demo_bg.wasm'),
      join(root, 'package-lock.json'),
      join(root, 'scripts', 'build'),
    ],
    outputs: ['index.html', 'caphost_demo.js', 'caphost_demo_bg.wasm', 'worker.js', 'abp.json'].map((name) => join(demoDir, name)),
  }, () => assemble(glue));
}

/** @param {string} glue */
async function assemble(glue) {
  const html = join(page, 'index.html');
  if (!existsSync(html)) throw new Error('www/page/index.html is missing');
  if (!manifestLink.test(readFileSync(html, 'utf8'))) throw new Error('www/page/index.html must link to /abp.json as abp-manifest');
  const fresh = `${demoDir}.fresh`;
  rmSync(fresh, { recursive: true, force: true });
  await bundle(glue, fresh);
  await bundleWorker(fresh);
  for (const file of filesUnder(page).filter(isServedAsIs)) {
    const copy = join(fresh, relative(page, file));
    mkdirSync(dirname(copy), { recursive: true });
    cpSync(file, copy);
  }
  copyInto([join(glue, 'caphost_demo_bg.wasm')], fresh);
  await writeManifest(fresh);
  rmSync(demoDir, { recursive: true, force: true });
  renameSync(fresh, demoDir);
}

/** @param {string} glue @param {string} outdir */
async function bundle(glue, outdir) {
  // Imported here because a fresh clone has no esbuild until the set-up has run.
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: root,
    // The glue is an entry point, so that it stays one module, at the root, beside its wasm.
    entryPoints: [
      { in: join(glue, 'caphost_demo.js'), out: 'caphost_demo' },
      ...pageEntries().map((path) => ({ in: path, out: relative(page, path).replace(/\.js$/, '') })),
    ],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    sourcemap: 'linked',
    external: ['/caphost/*'],
    chunkNames: '[name]-[hash]',
    charset: 'utf8',
    logOverride: { 'duplicate-object-key': 'silent' },
    plugins: [oneCopyOfSnippets, {
      name: 'glue-beside-the-page',
      setup({ onResolve }) {
        onResolve({ filter: /(^|\/)caphost_demo\.js$/ }, ({ kind }) =>
          kind === 'entry-point' ? undefined : { path: join(glue, 'caphost_demo.js') });
      },
    }],
  });
}

/** @returns {string[]} the modules that the HTML loads or that another module loads by URL, such as a worker */
function pageEntries() {
  const found = new Set();
  for (const file of filesUnder(page)) {
    const pattern = file.endsWith('.html') ? /<script[^>]*\ssrc="([^"]+\.js)"/g
      : file.endsWith('.js') ? /new URL\(\s*['"]([^'"]+\.js)['"],\s*import\.meta\.url/g
      : undefined;
    if (!pattern) continue;
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(pattern)) {
      const module = path.startsWith('/') ? join(page, path) : join(dirname(file), path);
      if (existsSync(module)) found.add(module);
    }
  }
  return [...found].sort();
}

/** @param {string} file */
const isServedAsIs = (file) => !/\.(js|ts)$|[\\/]tsconfig\.json$/.test(file);

/** @param {string} folder the folder that gets abp.json, the manifest of the capabilities that the demo registers */
async function writeManifest(folder) {
  // Runs in a process of its own, so that no modules of an earlier build are loaded.
  const manifest = await must(process.execPath, [join(root, 'scripts', 'build', 'manifest.mjs'), folder], {
    quiet: true,
    timeoutMs: 60_000,
  });
  writeFileSync(join(folder, 'abp.json'), manifest);
}
