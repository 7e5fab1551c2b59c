// Builds the parts of caphost: node build.mjs [package] [demo] [gateway] [gateway-quick]. Progress
// goes to standard error. `gateway` is the gateway to deploy. `npm start` and the tests run
// `gateway-quick`.

import { pathToFileURL } from 'node:url';
import { bundleForCrate } from './build/crate-glue.mjs';
import { buildDemo } from './build/demo.mjs';
import { buildGateway } from './build/gateway.mjs';
import { buildPackage } from './build/package.mjs';
import { lastMeasure, sizeReport } from './build/size.mjs';
import { setUpBuild, setUpWasm } from './setup.mjs';

const parts = /** @type {const} */ (['package', 'demo', 'gateway', 'gateway-quick']);

/** The parts that `npm start` and the tests need. */
export const quickParts = ['package', 'demo', 'gateway-quick'];

/**
 * @param {string[]} [wanted] the names of parts; by default the parts to publish and deploy
 */
export async function build(wanted = ['package', 'demo', 'gateway']) {
  const unknown = wanted.filter((name) => !parts.some((part) => part === name));
  if (unknown.length > 0) throw new Error(`no such part: ${unknown.join(', ')}; there are ${parts.join(', ')}`);
  await setUpBuild();
  // Both builds run at the same time: while one waits for a single crate, the other uses the rest
  // of the machine.
  await Promise.all([buildForThePage(wanted), buildNatively(wanted)]);
}

/** @param {string[]} wanted */
async function buildForThePage(wanted) {
  if (!wanted.includes('package') && !wanted.includes('demo')) return;
  const { wasmBindgen } = await setUpWasm();
  await bundleForCrate();
  if (wanted.includes('package')) {
    await buildPackage(wasmBindgen);
    console.error(sizeReport(lastMeasure() ?? []));
  }
  if (wanted.includes('demo')) await buildDemo(wasmBindgen);
}

/** @param {string[]} wanted */
async function buildNatively(wanted) {
  if (wanted.includes('gateway-quick')) await buildGateway({ quick: true });
  if (wanted.includes('gateway')) await buildGateway();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    const wanted = process.argv.slice(2);
    await build(wanted.length > 0 ? wanted : undefined);
  } catch (error) {
    console.error(`build: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
