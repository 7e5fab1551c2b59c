import { join } from 'node:path';
import { build as bundle } from 'esbuild';
import { buildWasm, copyInto } from '../../../scripts/build/wasm.mjs';
import { glueDir, root } from '../../../scripts/paths.mjs';
import { setUpWasm } from '../../../scripts/setup.mjs';

/**
 * Builds tests/rust-app as a Rust author would: cargo, wasm-bindgen, a bundler.
 *
 * @param {string} user whose it is: tests that run at the same time would take the folder from each other
 * @param {string} [profile] of cargo: the tests want it soon, who measures wants it optimised
 * @returns {Promise<string>} the folder of its module
 */
export async function buildRustApp(user, profile = 'dev') {
  const { wasmBindgen } = await setUpWasm();
  const glue = join(glueDir, `rust-app-${user}`);
  await buildWasm({ crate: 'caphost-test-app', profile, out: glue, name: 'caphost_test_app', wasmBindgen });
  const outdir = `${glue}-bundle`;
  await bundle({
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
