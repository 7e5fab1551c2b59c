import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Cargo's target directory: the default, unless the caller chose another. */
export const targetDir = resolve(root, process.env.CARGO_TARGET_DIR || 'target');

/**
 * What wasm-bindgen writes. The folder is always here, so that `#wasm` and `#demo` in package.json
 * can name it regardless of cargo's target directory.
 */
export const glueDir = join(root, 'target', 'glue');

/** The npm package as published. */
export const packageDir = join(root, 'pkg');

/** The demo page as served. */
export const demoDir = join(root, 'www', 'dist');

const caphost = process.platform === 'win32' ? 'caphost.exe' : 'caphost';

/** The gateway that `npm start` and the tests run. It is built quickly, and cargo's tests use it too. */
export const gatewayBinary = join(targetDir, 'debug', caphost);

/** The cancellation suite, as the tests run it. */
export const conformanceBinary = join(targetDir, 'debug', process.platform === 'win32' ? 'caphost-conformance.exe' : 'caphost-conformance');

/** The gateway to deploy and to measure. */
export const gatewayRelease = join(targetDir, 'release', caphost);

/**
 * @param {string} crate
 * @returns {string} the version in Cargo.lock
 */
export function lockedVersion(crate) {
  const lock = readFileSync(join(root, 'Cargo.lock'), 'utf8');
  const found = new RegExp(`name = "${crate}"\\nversion = "([^"]+)"`).exec(lock);
  if (!found?.[1]) throw new Error(`Cargo.lock holds no ${crate}`);
  return found[1];
}
