import { existsSync, lstatSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { glueDir, packageDir, root } from '../paths.mjs';
import { minifyModules } from './minify.mjs';
import { measurePackage } from './size.mjs';
import { oneCopyOfSnippets } from './snippets.mjs';
import { filesUnder, unlessDone } from './stamp.mjs';
import { buildWasm, copyInto } from './wasm.mjs';

const sources = join(root, 'npm');
const entries = /** @type {const} */ ({ '.': 'index', './agent': 'agent', './automation': 'automation' });

/**
 * Builds the npm package into pkg/.
 *
 * @param {string} wasmBindgen the folder that holds the program
 */
export async function buildPackage(wasmBindgen) {
  const glue = join(glueDir, 'package');
  await buildWasm({
    crate: 'caphost',
    profile: 'wasm',
    out: glue,
    name: 'caphost',
    // npm/wasm.js says where the module is.
    bindgen: ['--omit-default-module-path'],
    optimize: ['-O3', '--strip-producers', '--strip-target-features'],
    wasmBindgen,
  });
  await unlessDone({
    name: 'package',
    inputs: [
      sources,
      join(root, 'src', 'web', 'js'),
      join(glue, 'caphost.js'),
      join(glue, 'caphost_bg.wasm'),
      join(root, 'README.md'),
      join(root, 'Cargo.toml'),
      join(root, 'package-lock.json'),
      join(root, 'scripts', 'build'),
    ],
    outputs: [join(packageDir, 'package.json'), join(packageDir, 'caphost_bg.wasm')],
  }, () => assemble(glue));
  linkPackage();
}

/** @param {string} glue */
async function assemble(glue) {
  const fresh = `${packageDir}.fresh`;
  rmSync(fresh, { recursive: true, force: true });
  const names = Object.values(entries).filter((name) => existsSync(join(sources, `${name}.js`)));
  const browser = await bundle(fresh, names.map((name) => `${name}.js`), 'chunk');
  // Node never loads the browser's variants, so keeping the two apart leaves fewer, larger chunks.
  const node = await bundle(fresh, names.map((name) => `${name}.node.js`), 'node');
  const types = filesUnder(sources).filter((path) => path.endsWith('.d.ts'));
  const documents = ['README.md', 'LICENSE-MIT', 'LICENSE-APACHE'].map((name) => join(root, name));
  copyInto([join(glue, 'caphost_bg.wasm'), ...types, ...documents], fresh);
  const importsWs = [browser, node].some(({ outputs }) =>
    Object.values(outputs).some(({ imports }) => imports.some(({ path }) => path === 'ws')));
  writeFileSync(join(fresh, 'package.json'), `${JSON.stringify(description(fresh, importsWs), null, 2)}\n`);
  rmSync(packageDir, { recursive: true, force: true });
  renameSync(fresh, packageDir);
  measurePackage(browser);
}

/**
 * @param {string} outdir
 * @param {string[]} files entry points, in npm/
 * @param {string} chunk what the names of shared chunks begin with
 */
async function bundle(outdir, files, chunk) {
  // Only now: a fresh clone has no esbuild until the set-up has run.
  const { build } = await import('esbuild');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: files.map((name) => join(sources, name)).filter((path) => existsSync(path)),
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    mainFields: ['module', 'main'],
    conditions: ['import'],
    external: ['node:*', 'ws'],
    minify: true,
    chunkNames: `${chunk}-[hash]`,
    legalComments: 'none',
    charset: 'utf8',
    metafile: true,
    // wasm-bindgen repeats a module in its list of imports, with the same content each time.
    logOverride: { 'duplicate-object-key': 'silent' },
    plugins: [oneCopyOfSnippets],
  });
  // Entry points are small, and functions that the automation sends to pages stay as they are.
  const chunks = Object.entries(metafile.outputs).filter(([, { entryPoint }]) => !entryPoint?.includes('npm/'));
  await minifyModules(chunks.map(([path]) => join(root, path)));
  return metafile;
}

/** @param {string} folder @param {boolean} importsWs */
function description(folder, importsWs) {
  const cargo = readFileSync(join(root, 'Cargo.toml'), 'utf8');
  const field = (/** @type {string} */ name) => new RegExp(`^${name} = "(.*)"$`, 'm').exec(cargo)?.[1];
  const has = (/** @type {string} */ file) => existsSync(join(folder, file));
  const conditions = (/** @type {string} */ name) => ({
    ...(has(`${name}.d.ts`) && { types: `./${name}.d.ts` }),
    ...(has(`${name}.node.js`) && { node: `./${name}.node.js` }),
    default: `./${name}.js`,
  });
  const built = Object.entries(entries).filter(([, name]) => has(`${name}.js`));
  return {
    name: 'caphost',
    version: field('version'),
    description: field('description'),
    license: field('license'),
    type: 'module',
    // In Node an entry tells the rest where to read the wasm from.
    sideEffects: ['./*.node.js', './node-*.js'],
    exports: {
      ...Object.fromEntries(built.map(([path, name]) => [path, conditions(name)])),
      './package.json': './package.json',
    },
    ...(importsWs && { peerDependencies: { ws: '>=8' }, peerDependenciesMeta: { ws: { optional: true } } }),
    engines: { node: '>=20' },
  };
}

/** Lets tests import the built package as `caphost`, like any project that depends on it. */
function linkPackage() {
  const link = join(root, 'node_modules', 'caphost');
  if (lstatSync(link, { throwIfNoEntry: false })) return;
  symlinkSync(process.platform === 'win32' ? packageDir : join('..', 'pkg'), link, 'junction');
}
