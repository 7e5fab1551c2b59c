import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildWasm, copyInto } from '../../../scripts/build/wasm.mjs';
import { glueDir, root } from '../../../scripts/paths.mjs';
import { setUpWasm } from '../../../scripts/setup.mjs';

const folderOf = (/** @type {string} */ profile) => join(glueDir, `rust-app-${profile}-bundle`);

/** The folder of the Rust app's module, which is built before the tests. */
export function rustAppFolder() {
  const folder = folderOf('dev');
  if (!existsSync(folder)) throw new Error('the Rust app is not built: `npm test e2e` does it');
  return folder;
}

/**
 * Builds tests/rust-app as a Rust author would: cargo, wasm-bindgen, a bundler.
 *
 * @param {string} profile the cargo profile: quick to build for tests, optimised for measurements
 * @returns {Promise<string>} the folder of the module
 */
export async function buildRustApp(profile) {
  const { wasmBindgen } = await setUpWasm();
  const glue = join(glueDir, `rust-app-${profile}`);
  await buildWasm({ crate: 'caphost-test-app', profile, out: glue, name: 'caphost_test_app', wasmBindgen });
  const outdir = folderOf(profile);
  // Imported here because it is installed only when the tests begin.
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: root,
    entryPoints: [join(glue, 'caphost_test_app.js')],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    logOverride: { 'duplicate-object-key': 'silent' },
  });
  copyInto([join(glue, 'caphost_test_app_bg.wasm')], outdir);
  return outdir;
}
