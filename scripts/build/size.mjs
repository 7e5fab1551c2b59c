import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packageDir, root } from '../paths.mjs';

/** The most bytes that host and agent may have together after gzip. The limit is generous: it only catches a dependency that slipped in. */
export const sizeBudget = 88_000;

const report = join(root, 'target', 'package-size.json');

/** The parts that a page loads on demand, by a path that their sources contain. */
const ON_DEMAND = new Map([
  ['web/js/schema/', 'schema validator'],
  ['web/js/webmcp/', 'WebMCP'],
  ['web/js/json-rpc/', 'JSON-RPC'],
  ['web/js/gateway/', 'gateway'],
  ['web/js/workers/', 'workers'],
]);

/** @typedef {{ file: string, bytes: number, gzip: number, onDemand?: string }} Part */

/**
 * Measures every file that a browser loads for `.` and `./agent`, including the wasm, and
 * separately the files that it loads on demand.
 *
 * @param {import('esbuild').Metafile} metafile of the bundled package
 */
export function measurePackage(metafile) {
  /** @type {Map<string, string | undefined>} the files that are reached, each with its purpose if it is loaded on demand */
  const reached = new Map();
  const visit = (/** @type {string} */ path, /** @type {string | undefined} */ purpose) => {
    const output = metafile.outputs[path];
    if (!output || (reached.has(path) && (purpose || !reached.get(path)))) return;
    reached.set(path, purpose);
    for (const entry of output.imports.filter(({ external }) => !external)) {
      visit(entry.path, (entry.kind === 'dynamic-import' && purposeOf(metafile.outputs[entry.path])) || purpose);
    }
  };
  for (const [path, output] of Object.entries(metafile.outputs)) {
    if (output.entryPoint && /(^|[\\/])npm[\\/](index|agent)\.js$/.test(output.entryPoint)) visit(path, undefined);
  }
  const files = [...reached].map(([path, purpose]) => weigh(String(path).split(/[\\/]/).at(-1) ?? '', purpose));
  const parts = [...files, weigh('worker.js', 'workers'), weigh('caphost_bg.wasm')].sort((x, y) => y.gzip - x.gzip);
  writeFileSync(report, JSON.stringify(parts));
  return parts;
}

/** @returns {Part[] | undefined} the result of the last measurement */
export function lastMeasure() {
  return existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined;
}

/** @param {Part[]} parts */
const sum = (parts) => parts.reduce((total, part) => total + part.gzip, 0);

/** The parts that every page loads. @param {Part[]} parts */
export const always = (parts) => parts.filter(({ onDemand }) => !onDemand);

/** @param {Part[]} parts @returns {boolean} */
export const fits = (parts) => sum(always(parts)) <= sizeBudget;

/** @param {Part[]} parts @returns {string} one line for each file, and the sums */
export function sizeReport(parts) {
  const line = (/** @type {string} */ name, /** @type {number} */ gzip) => `${name.padEnd(40)}${String(gzip).padStart(7)} B gzip`;
  const name = (/** @type {Part} */ { file, onDemand }) => (onDemand ? `${file} (${onDemand}, on demand)` : file);
  const total = sum(always(parts));
  return [
    ...parts.map((part) => line(name(part), part.gzip)),
    `${line('host + agent', total)}, ${total > sizeBudget ? `over the budget of ${sizeBudget} by ${total - sizeBudget}` : `within ${sizeBudget}`}`,
  ].join('\n');
}

/** @param {import('esbuild').Metafile['outputs'][string] | undefined} output */
function purposeOf(output) {
  const sources = Object.keys(output?.inputs ?? {});
  return [...ON_DEMAND].find(([path]) => sources.some((source) => source.includes(path)))?.[1];
}

/** @param {string} file @param {string} [onDemand] @returns {Part} */
function weigh(file, onDemand) {
  const content = readFileSync(join(packageDir, file));
  return { file, bytes: content.length, gzip: gzipSync(content, { level: 9 }).length, ...(onDemand && { onDemand }) };
}
