// Installs everything that this machine lacks to build and test caphost.

import { pathToFileURL } from 'node:url';
import { ensureChromedriver, ensureChromium, ensureFirefox } from './setup/browser.mjs';
import { ensurePackages } from './setup/packages.mjs';
import { ensurePrograms } from './setup/programs.mjs';
import { ensureToolchain } from './setup/toolchain.mjs';
import { ensureWasmBindgen } from './setup/wasm-tools.mjs';

/** @param {string} line */
const say = (line) => console.error(`setup: ${line}`);

/** Installs what every build needs. */
export async function setUpBuild() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) throw new Error(`Node 20.19 or newer is needed, this is ${process.version}`);
  await Promise.all([ensurePackages(say), ensureToolchain(say)]);
}

/** Installs what a build for wasm needs in addition. */
export async function setUpWasm() {
  return { wasmBindgen: await ensureWasmBindgen(say) };
}

/** Installs what the tests need in addition to a build. */
export async function setUpTests() {
  await ensurePrograms(say);
  const chromium = await ensureChromium(say);
  await ensureFirefox(say);
  return { chromium, chromedriver: await ensureChromedriver(chromium, say) };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    await setUpBuild();
    await setUpWasm();
    const { chromium } = await setUpTests();
    say(`everything is in place (${chromium})`);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
