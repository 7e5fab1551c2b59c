import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleForCrate } from '../build/crate-glue.mjs';
import { chromiumFlags } from '../browser/flags.mjs';
import { root } from '../paths.mjs';
import { runCargoTests } from './cargo-tests.mjs';

/**
 * Runs the `wasm_bindgen_test`s of the crate and of the documentation's app in a headless Chromium.
 *
 * @param {object} options
 * @param {{ wasmBindgen: string, chromium: string, chromedriver: string }} options.tools
 * @param {string[]} options.filters
 * @param {number} options.timeoutMs
 */
export async function runWasmTests({ tools, filters, timeoutMs }) {
  await bundleForCrate();
  const one = { packages: ['caphost', 'caphost-example-rust'], targets: ['--lib', '--tests'], platform: ['--target', 'wasm32-unknown-unknown'] };
  return runCargoTests([one], {
    filters,
    timeoutMs,
    env: {
      // The variables that `wasm-pack test --headless --chrome` sets.
      CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER: join(tools.wasmBindgen, 'wasm-bindgen-test-runner'),
      CHROMEDRIVER: tools.chromedriver,
      WASM_BINDGEN_TEST_ONLY_WEB: '1',
      WASM_BINDGEN_TEST_WEBDRIVER_JSON: capabilities(tools.chromium),
      WASM_BINDGEN_TEST_TIMEOUT: '120',
    },
  });
}

/**
 * Writes the WebDriver capabilities. They are written for each run, because the flags depend on the user and the path on the machine.
 *
 * @param {string} chromium
 * @returns {string} the path of the WebDriver capabilities
 */
function capabilities(chromium) {
  const file = join(root, 'target', 'test-reports', 'webdriver.json');
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, JSON.stringify({ 'goog:chromeOptions': { binary: chromium, args: chromiumFlags() } }, null, 2));
  return file;
}
