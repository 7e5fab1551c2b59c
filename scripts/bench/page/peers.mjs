import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { must } from '../../command.mjs';
import { root } from '../../paths.mjs';

/**
 * The libraries that this package is compared with. They are installed in a folder of their own, so
 * that nobody has to install them to build or test this package.
 */
export const home = join(root, 'scripts', 'bench');
const outDir = join(root, 'target', 'bench');

/** What an app imports from each library. @type {Record<string, Record<string, string>>} */
const imports = {
  'comlink': { comlink: 'expose, windowEndpoint, wrap' },
  'penpal': { penpal: 'connect, PortMessenger, WindowMessenger' },
  'birpc': { birpc: 'createBirpc' },
  'comctx': { comctx: 'defineProxy' },
  'kkrpc': { 'kkrpc/browser': 'RPCChannel, WorkerParentIO' },
  'capnweb': { capnweb: 'RpcTarget, newMessagePortRpcSession' },
  'vscode-jsonrpc': { 'vscode-jsonrpc/browser': 'BrowserMessageReader, BrowserMessageWriter, CancellationTokenSource, createMessageConnection' },
  'MCP SDK': { '@modelcontextprotocol/client': 'Client', '@modelcontextprotocol/server': 'McpServer, fromJsonSchema' },
};

/**
 * @typedef {{ name: string, version: string }} Peer
 * @typedef {{ peers: Peer[], missing: string[], folder: string }} Peers
 */

/**
 * Installs the peers if they are missing, and bundles each into a module with the exports that an app needs.
 *
 * @returns {Promise<Peers>}
 */
export async function bundlePeers() {
  /** @type {string[]} */
  const missing = [];
  await install().catch((error) => missing.push(`the packages of scripts/bench could not be installed: ${error.message}`));
  const folder = join(outDir, 'peers');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  /** @type {Peer[]} */
  const peers = [];
  for (const [name, modules] of Object.entries(imports)) {
    try {
      await bundle(entry(name), join(folder, `${name}.js`));
      peers.push({ name, version: versions(modules) });
    } catch (/** @type {any} */ error) {
      missing.push(`${name} cannot be had: ${error.message.split('\n')[0]}`);
    }
  }
  return { peers, missing, folder };
}

/** @param {string} name @returns {string} the text of a module with the exports that an app needs from the peer */
export function entry(name) {
  return Object.entries(imports[name] ?? {}).map(([path, names]) => `export { ${names} } from '${path}';`).join('\n');
}

/** @param {string} contents @param {string} outfile */
async function bundle(contents, outfile) {
  await build({
    stdin: { contents, resolveDir: home, loader: 'js' },
    outfile,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['browser'],
    logLevel: 'silent',
  });
}

/** Installs the versions of the lock file, as `npm ci` does. */
async function install() {
  const lock = readFileSync(join(home, 'package-lock.json'), 'utf8');
  const record = join(home, 'node_modules', '.installed-lock.json');
  if (existsSync(record) && readFileSync(record, 'utf8') === lock) return;
  console.error('installing the libraries to compare with, of scripts/bench/package-lock.json');
  await must('npm', ['ci', '--ignore-scripts', '--loglevel=error', '--no-fund', '--no-audit'], { cwd: home, toStderr: true });
  writeFileSync(record, lock);
}

/** @param {Record<string, string>} modules */
function versions(modules) {
  const names = new Set(Object.keys(modules).map((path) => path.split('/').slice(0, path.startsWith('@') ? 2 : 1).join('/')));
  const version = (/** @type {string} */ name) => JSON.parse(readFileSync(join(home, 'node_modules', name, 'package.json'), 'utf8')).version;
  return [...new Set([...names].map(version))].join(', ');
}
