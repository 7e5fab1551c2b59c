import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../paths.mjs';
import { filesUnder } from './stamp.mjs';

const sources = join(root, 'src', 'web', 'js');
const folder = join(root, 'src', 'web', 'bundled');

/**
 * The JavaScript that the crate ships, by file name: one file for all that a page always loads, one
 * for each part that it loads when it needs it, and one for workers.
 *
 * wasm-bindgen copies what a crate names, file by file, and a page without a bundler loads each by
 * itself. So the crate has bundles. They are in the repository, for cargo to build it without Node.
 */
async function made() {
  // Only now: a fresh clone has no esbuild until the set-up has run.
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
    // Both a module and a classic script.
    build({ ...how, entryPoints: { worker: join(sources, 'workers', 'worker.js') }, format: 'iife' }),
  ]);
  return new Map(built.flatMap(({ outputFiles }) => outputFiles.map(({ path, text }) => [basename(path), text])));
}

/** @param {string} name */
const written = (name) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined);

/** Makes the JavaScript of the crate anew where it is not what its sources make. */
export async function bundleForCrate() {
  const files = await made();
  mkdirSync(folder, { recursive: true });
  for (const path of filesUnder(folder).filter((it) => !files.has(basename(it)))) rmSync(path);
  for (const [name, text] of files) {
    // Cargo goes by the times of files.
    if (text !== written(name)) writeFileSync(join(folder, name), text);
  }
}

/** @returns {Promise<string[]>} the names of the files that the crate ships */
export async function checkCrateGlue() {
  const files = await made();
  const stale = [...files].filter(([name, text]) => text !== written(name)).map(([name]) => name);
  const left = filesUnder(folder).map((it) => basename(it)).filter((it) => !files.has(it));
  if (stale.length + left.length > 0) {
    throw new Error(`src/web/bundled is not what src/web/js makes: ${[...stale, ...left].join(', ')}. \`npm run build\` makes it anew`);
  }
  return [...files.keys()];
}
