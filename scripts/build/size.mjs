import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packageDir, root } from '../paths.mjs';

/** Gzip bytes that host and agent may take together: the tests fail above it. */
export const sizeBudget = 40_000;

const report = join(root, 'target', 'package-size.json');

/** @typedef {{ file: string, bytes: number, gzip: number }} Part */

/**
 * Weighs everything that importing `.` and `./agent` in a browser loads, the wasm included. The
 * schema validator is left out: it is loaded when a first schema is registered.
 *
 * @param {import('esbuild').Metafile} metafile of the bundled package
 */
export function measurePackage(metafile) {
  const reached = new Set();
  const visit = (/** @type {string} */ path) => {
    const output = metafile.outputs[path];
    if (!output || reached.has(path)) return;
    reached.add(path);
    output.imports
      .filter((entry) => !entry.external && !(entry.kind === 'dynamic-import' && isValidator(metafile.outputs[entry.path])))
      .forEach((entry) => visit(entry.path));
  };
  for (const [path, output] of Object.entries(metafile.outputs)) {
    if (output.entryPoint && /(^|[\\/])npm[\\/](index|agent)\.js$/.test(output.entryPoint)) visit(path);
  }
  const files = [...reached].map((path) => String(path).split(/[\\/]/).at(-1) ?? '').concat('caphost_bg.wasm');
  const parts = files.map((file) => weigh(join(packageDir, file), file)).sort((a, b) => b.gzip - a.gzip);
  writeFileSync(report, JSON.stringify(parts));
  return parts;
}

/** @returns {Part[] | undefined} what was measured last */
export function lastMeasure() {
  return existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined;
}

/** @param {Part[]} parts */
export const totalGzip = (parts) => parts.reduce((sum, part) => sum + part.gzip, 0);

/** @param {Part[]} parts @returns {string} one line for each file, and the sum */
export function sizeReport(parts) {
  const line = (/** @type {string} */ name, /** @type {number} */ gzip) => `${name.padEnd(28)}${String(gzip).padStart(7)} B gzip`;
  const total = totalGzip(parts);
  const verdict = total > sizeBudget ? `over the budget of ${sizeBudget} by ${total - sizeBudget}` : `within ${sizeBudget}`;
  return [...parts.map((part) => line(part.file, part.gzip)), `${line('host + agent', total)}, ${verdict}`].join('\n');
}

/** @param {import('esbuild').Metafile['outputs'][string] | undefined} output */
function isValidator(output) {
  return Object.keys(output?.inputs ?? {}).some((path) => path.includes('node_modules/@cfworker/'));
}

/** @param {string} path @param {string} file @returns {Part} */
function weigh(path, file) {
  const content = readFileSync(path);
  return { file, bytes: content.length, gzip: gzipSync(content, { level: 9 }).length };
}
