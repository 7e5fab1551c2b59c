// Builds what caphost consists of: node build.mjs [package] [demo] [gateway]
// Progress goes to standard error.

import { pathToFileURL } from 'node:url';
import { buildDemo } from './build/demo.mjs';
import { buildGateway } from './build/gateway.mjs';
import { buildPackage } from './build/package.mjs';
import { lastMeasure, sizeReport } from './build/size.mjs';
import { setUpBuild } from './setup.mjs';

const parts = /** @type {const} */ (['package', 'demo', 'gateway']);

/**
 * @param {string[]} [wanted] names of parts; all of them when left out
 */
export async function build(wanted = [...parts]) {
  const unknown = wanted.filter((name) => !parts.some((part) => part === name));
  if (unknown.length > 0) throw new Error(`no such part: ${unknown.join(', ')}; there are ${parts.join(', ')}`);
  const { wasmBindgen } = await setUpBuild();
  if (wanted.includes('package')) {
    await buildPackage(wasmBindgen);
    console.error(sizeReport(lastMeasure() ?? []));
  }
  if (wanted.includes('demo')) await buildDemo(wasmBindgen);
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
