import { chmodSync, copyFileSync, existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { glueDir, packageDir, root } from '../paths.mjs';
import { asObject } from './as-object.mjs';
import { minifyModules } from './minify.mjs';
import { readOwnMembersOnly } from './objects.mjs';
import { measurePackage } from './size.mjs';
import { oneCopyOfSnippets } from './snippets.mjs';
import { filesUnder, unlessDone } from './stamp.mjs';
import { buildWasm, copyInto } from './wasm.mjs';

const sources = join(root, 'npm');
const entries = /** @type {const} */ ({ '.': 'index', './agent': 'agent', './automation': 'automation', './activity': 'activity' });
/** The entry points that are built as single files. */
const inline = /** @type {const} */ ({ './inline': 'inline', './inline/host': 'inline-host', './inline/agent': 'inline-agent' });

const roles = ['host', 'agent'];

/** The program of the package, which runs the gateway's. */
const program = 'bin/caphost.js';

/** The path of the wasm module of a role, written by wasm-bindgen. @param {string} role */
const moduleOf = (role) => join(glueDir, role, `${role}_bg.wasm`);

/**
 * Builds the npm package into pkg/.
 *
 * @param {string} wasmBindgen the folder that holds the program
 */
export async function buildPackage(wasmBindgen) {
  // The roles are built one after the other, because cargo uses the same file name for both.
  for (const role of roles) {
    await buildWasm({
      crate: 'caphost-npm',
      profile: 'wasm',
      withFeatures: [role],
      out: join(glueDir, role),
      name: role,
      // npm/instance.js starts the module.
      bindgenTarget: 'bundler',
      // A large function that only one function calls stays apart: together they compress worse by a fiftieth.
      optimize: ['-O3', '--flatten', '--rereloop', '-O3', '-O3', '-O3', '--one-caller-inline-max-function-size', '100',
        // The memory below 1 kB is the end of the stack.
        '--low-memory-unused', '--strip-producers', '--strip-target-features'],
      wasmBindgen,
    });
  }
  await unlessDone({
    name: 'package',
    inputs: [
      sources,
      join(root, 'src', 'web', 'js'),
      ...roles.flatMap((role) => [join(glueDir, role, `${role}_bg.js`), moduleOf(role)]),
      join(root, 'README.md'),
      join(root, 'Cargo.toml'),
      join(root, 'package-lock.json'),
      join(root, 'scripts', 'build'),
    ],
    outputs: [join(packageDir, 'package.json'), ...roles.map((role) => join(packageDir, `${role}.wasm`)), join(packageDir, 'worker.js')],
  }, assemble);
  linkPackage();
}

async function assemble() {
  const fresh = `${packageDir}.fresh`;
  rmSync(fresh, { recursive: true, force: true });
  const names = Object.values(entries);
  const browser = await bundle(fresh, names.map((name) => `${name}.js`), 'chunk');
  // Node never loads the browser's variants, so two separate bundles need fewer, larger chunks.
  // Node prints the source line of an uncaught error, and sends nothing over a network, so its
  // bundle is not minified.
  await bundle(fresh, names.map((name) => `${name}.node.js`), 'node', { minify: false });
  await bundleWorker(fresh);
  await bundle(fresh, Object.values(inline).map((name) => `${name}.js`), 'inline', { plugins: [allInside(join(fresh, 'worker.js'))] });
  nameSources(fresh);
  const types = filesUnder(sources).filter((path) => path.endsWith('.d.ts'));
  const documents = ['README.md', 'LICENSE-MIT', 'LICENSE-APACHE'].map((name) => join(root, name));
  copyInto([...types, ...documents], fresh);
  for (const role of roles) copyFileSync(moduleOf(role), join(fresh, `${role}.wasm`));
  mkdirSync(join(fresh, 'bin'));
  copyFileSync(join(sources, 'command.node.js'), join(fresh, program));
  chmodSync(join(fresh, program), 0o755);
  writeFileSync(join(fresh, 'package.json'), `${JSON.stringify(description(fresh), null, 2)}\n`);
  rmSync(packageDir, { recursive: true, force: true });
  renameSync(fresh, packageDir);
  measurePackage(browser);
}

/**
 * @param {string} outdir
 * @param {string[]} files entry points, in npm/
 * @param {string} chunk the beginning of the names of shared chunks
 * @param {object} [how]
 * @param {import('esbuild').Plugin[]} [how.plugins] for a single file
 * @param {boolean} [how.minify]
 */
async function bundle(outdir, files, chunk, { plugins, minify = true } = {}) {
  // Imported here because a fresh clone has no esbuild until the set-up has run.
  const { build } = await import('esbuild');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: files.map((name) => join(sources, name)).filter((path) => existsSync(path)),
    outdir,
    bundle: true,
    splitting: !plugins,
    loader: { '.wasm': 'binary' },
    sourcemap: 'linked',
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    mainFields: ['module', 'main'],
    conditions: ['import'],
    external: ['node:*', 'ws'],
    // terser takes the white space out.
    minifySyntax: minify,
    minifyIdentifiers: minify,
    chunkNames: `${chunk}-[hash]`,
    legalComments: 'none',
    charset: 'utf8',
    metafile: true,
    // wasm-bindgen lists a module several times in its imports, each time with the same content.
    logOverride: { 'duplicate-object-key': 'silent' },
    plugins: [asObject, oneCopyOfSnippets, ...(plugins ?? [])],
  });
  const scripts = Object.keys(metafile.outputs).filter((path) => path.endsWith('.js')).map((path) => join(root, path));
  readOwnMembersOnly(scripts);
  // Functions that the automation sends to pages stay unchanged.
  const chunks = Object.entries(metafile.outputs).filter(([path, { entryPoint }]) => path.endsWith('.js') && !entryPoint?.includes('npm/automation'));
  if (minify) await minifyModules(chunks.map(([path]) => join(root, path)));
  return metafile;
}

/**
 * Source maps contain their sources. This gives the sources names that match no file on a user's machine.
 *
 * @param {string} folder
 */
function nameSources(folder) {
  for (const path of filesUnder(folder).filter((it) => it.endsWith('.map'))) {
    const map = JSON.parse(readFileSync(path, 'utf8'));
    map.sources = map.sources.map((/** @type {string} */ it) => it.replace(/^((\.\.\/)+|(text|object):.*\/)/, 'caphost:///'));
    writeFileSync(path, JSON.stringify(map));
  }
}

/**
 * Bundles the code for workers into a file of its own, which works as a module and as a classic script.
 *
 * @param {string} outdir
 */
export async function bundleWorker(outdir) {
  const { build } = await import('esbuild');
  const outfile = join(outdir, 'worker.js');
  await build({
    absWorkingDir: root,
    entryPoints: [join(root, 'src', 'web', 'js', 'workers', 'worker.js')],
    outfile,
    bundle: true,
    format: 'iife',
    target: 'es2022',
    minify: true,
    sourcemap: 'linked',
    legalComments: 'none',
    charset: 'utf8',
  });
  await minifyModules([outfile]);
}

/**
 * Puts the wasm and the worker into the JavaScript instead of separate files.
 *
 * @param {string} worker the worker's file
 * @returns {import('esbuild').Plugin}
 */
const allInside = (worker) => ({
  name: 'all-inside',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^\.\/(host|agent)-wasm\.js$/ }, ({ path }) => ({ path: join(sources, path.replace('.js', '.inline.js')) }));
    onResolve({ filter: /^#worker$/ }, () => ({ path: worker, namespace: 'text' }));
    onLoad({ filter: /./, namespace: 'text' }, () => ({ contents: readFileSync(worker, 'utf8').replace(/\/\/# sourceMappingURL=.*/, ''), loader: 'text' }));
    onLoad({ filter: /[\\/]workers[\\/]workers\.js$/ }, ({ path }) => {
      const beside = "new URL('./worker.js', import.meta.url).href";
      const [before, after] = readFileSync(path, 'utf8').split(beside);
      if (after === undefined) throw new Error(`${path} does not say ${beside} any more`);
      return { contents: `import source from '#worker';\n${before}URL.createObjectURL(new Blob([source], { type: 'text/javascript' }))${after}` };
    });
  },
});

/** @param {string} folder */
function description(folder) {
  const cargo = readFileSync(join(root, 'Cargo.toml'), 'utf8');
  const field = (/** @type {string} */ name) => new RegExp(`^${name} = "(.*)"$`, 'm').exec(cargo)?.[1];
  const has = (/** @type {string} */ file) => existsSync(join(folder, file));
  const conditions = (/** @type {string} */ name) => ({
    ...(has(`${name}.d.ts`) && { types: `./${name}.d.ts` }),
    ...(has(`${name}.node.js`) && { node: `./${name}.node.js` }),
    default: `./${name}.js`,
  });
  const built = Object.entries({ ...entries, ...inline }).filter(([, name]) => has(`${name}.js`));
  return {
    name: 'caphost',
    version: field('version'),
    description: field('description'),
    keywords: ['agents', 'capabilities', 'cancellation', 'abort', 'abortsignal', 'postmessage', 'webmcp', 'mcp', 'puppeteer', 'playwright', 'wasm'],
    homepage: field('repository'),
    repository: { type: 'git', url: `git+${field('repository')}.git` },
    bugs: `${field('repository')}/issues`,
    license: field('license'),
    type: 'module',
    bin: { caphost: program },
    // Importing these files has an effect: a Node entry sets where the wasm is read from, and
    // `activity.js` defines an element.
    sideEffects: ['./*.node.js', './node-*.js', './activity.js'],
    exports: {
      ...Object.fromEntries(built.map(([path, name]) => [path, conditions(name)])),
      // The same element as `./activity`, with its type in JSX.
      './react': { types: './react.d.ts', default: './activity.js' },
      './worker.js': { types: './worker.d.ts', default: './worker.js' },
      './package.json': './package.json',
    },
    // `ws` is for connections to a gateway in Node 20; `@types/react` is for the types of
    // `caphost/react`.
    peerDependencies: { '@types/react': '>=18', ws: '>=8' },
    peerDependenciesMeta: { '@types/react': { optional: true }, ws: { optional: true } },
    engines: { node: '>=20' },
  };
}

/** Lets tests import the built package as `caphost`, like a project that depends on it. */
function linkPackage() {
  const link = join(root, 'node_modules', 'caphost');
  if (lstatSync(link, { throwIfNoEntry: false })) return;
  symlinkSync(process.platform === 'win32' ? packageDir : join('..', 'pkg'), link, 'junction');
}
