import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packageDir, root } from '../paths.mjs';

/**
 * The most bytes that a page of each role may load until its first answer, after gzip. The budgets are
 * generous: they only catch a dependency that slipped in.
 *
 * @type {Record<Role, number>}
 */
export const sizeBudgets = { host: 76_600, agent: 46_200 };

const report = join(root, 'target', 'package-size.json');

/** @typedef {'host' | 'agent'} Role */

/** @type {Record<Role, string>} the entry point of each role */
const ENTRIES = { host: 'index', agent: 'agent' };

const ROLES = /** @type {Role[]} */ (Object.keys(ENTRIES));

/** The parts that a page loads on demand, by a path that their sources contain. */
const ON_DEMAND = new Map([
  ['web/js/schema/', 'schema validator'],
  ['web/js/consent/', 'consent through the agent'],
  ['web/js/standard/', 'Standard Schema'],
  ['web/js/webmcp/', 'WebMCP'],
  ['web/js/json-rpc/', 'JSON-RPC'],
  ['web/js/gateway/', 'gateway'],
  ['web/js/again/', 'reconnecting'],
  ['web/js/callbacks/', 'functions in parameters'],
  ['web/js/workers/', 'workers'],
  ['web/js/windows/', 'windows'],
  ['web/js/sockets/', 'agents over WebSockets'],
]);

/**
 * A file of the package. `roles` lists the roles whose pages always load the file. `onDemand` is the
 * purpose of a file that is loaded on demand.
 *
 * @typedef {{ file: string, bytes: number, gzip: number, roles: Role[], onDemand?: string }} Part
 */

/**
 * Measures every file that a browser loads for the entry point of each role, including the wasm, and
 * separately the files that are loaded on demand.
 *
 * @param {import('esbuild').Metafile} metafile of the bundled package
 */
export function measurePackage(metafile) {
  /** @type {Map<string, { roles: Role[], onDemand?: string }>} */
  const files = new Map([['worker.js', { roles: [], onDemand: 'workers' }]]);
  for (const role of ROLES) files.set(`${role}.wasm`, { roles: [role] });
  const visit = (/** @type {string} */ path, /** @type {Role} */ role, /** @type {string | undefined} */ onDemand) => {
    const output = metafile.outputs[path];
    const file = String(path).split(/[\\/]/).at(-1) ?? '';
    const known = files.get(file);
    if (!output || known?.roles.includes(role) || (known && onDemand)) return;
    files.set(file, onDemand ? { roles: [], onDemand } : { roles: [...(known?.roles ?? []), role] });
    for (const entry of output.imports.filter(({ external }) => !external)) {
      visit(entry.path, role, (entry.kind === 'dynamic-import' && purposeOf(metafile.outputs[entry.path])) || onDemand);
    }
  };
  for (const role of ROLES) {
    const entry = Object.keys(metafile.outputs).find((path) => metafile.outputs[path]?.entryPoint?.endsWith(`npm/${ENTRIES[role]}.js`));
    if (entry) visit(entry, role, undefined);
  }
  const parts = [...files].map(([file, how]) => ({ ...weigh(file), ...how })).sort((x, y) => y.gzip - x.gzip);
  writeFileSync(report, JSON.stringify(parts));
  return parts;
}

/** @returns {Part[] | undefined} the result of the last measurement */
export function lastMeasure() {
  return existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined;
}

/** The parts that the pages of a role always load. @param {Part[]} parts @param {Role} role */
export const loadedBy = (parts, role) => parts.filter(({ roles }) => roles.includes(role));

/** @param {Part[]} parts @param {Role} role */
const sum = (parts, role) => loadedBy(parts, role).reduce((total, part) => total + part.gzip, 0);

/** @param {Part[]} parts @returns {boolean} */
export const fits = (parts) => ROLES.every((role) => sum(parts, role) <= sizeBudgets[role]);

/** @param {Part[]} parts @returns {string} one line for each file, and the sum of each role */
export function sizeReport(parts) {
  const line = (/** @type {string} */ name, /** @type {number} */ gzip) => `${name.padEnd(44)}${String(gzip).padStart(7)} B gzip`;
  const name = (/** @type {Part} */ { file, roles, onDemand }) => `${file} (${onDemand ? `${onDemand}, on demand` : roles.join(', ')})`;
  const total = (/** @type {Role} */ role) => {
    const [bytes, budget] = [sum(parts, role), sizeBudgets[role]];
    const verdict = bytes > budget ? `over the budget of ${budget} by ${bytes - budget}` : `within ${budget}`;
    return `${line(`a page that is ${role === 'host' ? 'a host' : 'an agent'}`, bytes)}, ${verdict}`;
  };
  return [...parts.map((part) => line(name(part), part.gzip)), ...ROLES.map(total)].join('\n');
}

/** @param {import('esbuild').Metafile['outputs'][string] | undefined} output */
function purposeOf(output) {
  const sources = Object.keys(output?.inputs ?? {});
  return [...ON_DEMAND].find(([path]) => sources.some((source) => source.includes(path)))?.[1];
}

/** @param {string} file */
function weigh(file) {
  const content = readFileSync(join(packageDir, file));
  return { file, bytes: content.length, gzip: gzipSync(content, { level: 9 }).length };
}
