import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../paths.mjs';
import { filesUnder } from './stamp.mjs';

const sources = join(root, 'src', 'web', 'js');
const folder = join(root, 'src', 'web', 'bundled');

/**
 * The JavaScript that the crate ships, by file name: one file with everything that a page always
 * loads, one for each part that a page loads on demand, and one for workers.
 *
 * wasm-bindgen copies the files that a crate names one by one, and a page without a bundler loads
 * each file separately. So the crate ships bundles. They are in the repository, so that cargo can
 * build the crate without Node.
 */
async function made() {
  // Imported here because a fresh clone has no esbuild until the set-up has run.
  const { build } = await import('esbuild');
  const how = /** @type {const} */ ({
    absWorkingDir: root,
    outdir: folder,
    bundle: true,
    write: false,
    target: 'es2022',
    legalComments: 'none',
    charset: 'utf8',
    banner: { js: '// Made of ../js by `npm run build`, and to be changed there.' },
  });
  const built = await Promise.all([
    build({ ...how, entryPoints: { page: join(sources, 'rust.js') }, format: 'esm', splitting: true, chunkNames: '[name]' }),
    // A file that works as a module and as a classic script.
    build({ ...how, entryPoints: { worker: join(sources, 'workers', 'worker.js') }, format: 'iife' }),
  ]);
  return new Map(built.flatMap(({ outputFiles }) => outputFiles.map(({ path, text }) => [basename(path), text])));
}

/** @param {string} name */
const written = (name) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined);

/** Rebuilds the JavaScript of the crate where it is out of date. */
export async function bundleForCrate() {
  const files = await made();
  mkdirSync(folder, { recursive: true });
  for (const path of filesUnder(folder).filter((it) => !files.has(basename(it)))) rmSync(path);
  for (const [name, text] of files) {
    // Cargo looks at the times of files, so unchanged files are not written.
    if (text !== written(name)) writeFileSync(join(folder, name), text);
  }
}

/** @returns {Promise<string[]>} the names of the files that the crate ships */
export async function checkCrateGlue() {
  const files = await made();
  const stale = [...files].filter(([name, text]) => text !== written(name)).map(([name]) => name);
  const left = filesUnder(folder).map((it) => basename(it)).filter((it) => !files.has(it));
  if (stale.length + left.length > 0) {
    throw new Error(`src/web/bundled is not up to date with src/web/js: ${[...stale, ...left].join(', ')}. \`npm run build\` makes it anew`);
  }
  return [...files.keys()];
}
