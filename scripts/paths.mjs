import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Where cargo builds: its own default, unless the caller chose another. */
export const targetDir = resolve(root, process.env.CARGO_TARGET_DIR || 'target');

/**
 * What wasm-bindgen writes. Always here, so that `#wasm` and `#demo` in package.json can name it
 * whatever cargo's target directory is.
 */
export const glueDir = join(root, 'target', 'glue');

/** The npm package as published. */
export const packageDir = join(root, 'pkg');

/** The demo page as served. */
export const demoDir = join(root, 'www', 'dist');

const caphost = process.platform === 'win32' ? 'caphost.exe' : 'caphost';

/** The gateway as `npm start` and the tests run it: built quickly, and the one cargo's own tests use. */
export const gatewayBinary = join(targetDir, 'debug', caphost);

/** The gateway as one would deploy and measure it. */
export const gatewayRelease = join(targetDir, 'release', caphost);

/**
 * @param {string} crate
 * @returns {string} the version Cargo.lock holds it at
 */
export function lockedVersion(crate) {
  const lock = readFileSync(join(root, 'Cargo.lock'), 'utf8');
  const found = new RegExp(`name = "${crate}"\\nversion = "([^"]+)"`).exec(lock);
  if (!found?.[1]) throw new Error(`Cargo.lock holds no ${crate}`);
  return found[1];
}
