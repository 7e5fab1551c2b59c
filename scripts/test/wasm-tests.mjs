import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromiumFlags } from '../browser/flags.mjs';
import { run } from '../command.mjs';
import { root } from '../paths.mjs';
import { countRustTests, settle } from './counts.mjs';
import { freePort, keepServing } from './test-server.mjs';

/**
 * Runs the crate's `wasm_bindgen_test`s in a headless Chromium.
 *
 * @param {object} options
 * @param {{ wasmBindgen: string, wasmPack: string, chromium: string, chromedriver: string | undefined }} options.tools
 * @param {string[]} options.filters
 * @param {number} options.timeoutMs
 */
export async function runWasmTests({ tools, filters, timeoutMs }) {
  const port = await freePort();
  const stop = keepServing(port);
  const { code, output } = await run(join(tools.wasmPack, 'wasm-pack'), [
    'test', '--headless', '--chrome',
    ...(tools.chromedriver === undefined ? [] : ['--chromedriver', tools.chromedriver]),
    '--', '--locked', ...filters,
  ], {
    timeoutMs,
    env: {
      // Where wasm-pack finds wasm-bindgen, instead of downloading it.
      PATH: `${tools.wasmBindgen}${delimiter}${process.env.PATH}`,
      WASM_BINDGEN_TEST_WEBDRIVER_JSON: capabilities(tools.chromium),
      WASM_BINDGEN_TEST_TIMEOUT: '120',
      WASM_BINDGEN_TEST_ADDRESS: `127.0.0.1:${port}`,
    },
  }).finally(stop);
  return settle(code, countRustTests(output));
}

/**
 * Written for each run, because the flags depend on who runs it and the path on where.
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
