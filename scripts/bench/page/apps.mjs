import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { root } from '../../paths.mjs';
import { entry, home } from './peers.mjs';

/**
 * The same small app for each contender: a function behind a MessagePort, called once. The app is
 * bundled as usual, then weighed, and started in a fresh page.
 *
 * @typedef {{ name: string, at: string, folder: string }} App `at`: the module that starts the app
 */

const inPage = join(root, 'scripts', 'bench', 'page', 'in-page').replaceAll('\\', '/');

/** The file and the name of each peer's adapter. @type {Record<string, [file: string, name: string]>} */
const adapters = {
  ...Object.fromEntries(['comlink', 'penpal', 'birpc', 'comctx', 'kkrpc', 'capnweb'].map((name) => [name, ['port-peers', name]])),
  'vscode-jsonrpc': ['json-rpc-peers', 'vscodeJsonRpc'],
  'MCP SDK': ['json-rpc-peers', 'mcp'],
};

/**
 * @param {string[]} peers
 * @param {{ name: string, folder: string }[]} builds
 * @returns {Promise<{ apps: App[], folder: string }>}
 */
export async function bundleApps(peers, builds) {
  const folder = join(root, 'target', 'bench', 'apps');
  rmSync(folder, { recursive: true, force: true });
  /** @type {[string, string, string?][]} */
  const sources = [
    ...builds.map(({ name, folder: from }) => /** @type {[string, string, string]} */ ([name, ours(from), from])),
    ['ABP by hand', byHand],
    ...peers.map((name) => /** @type {[string, string]} */ ([name, ofPeer(name)])),
  ];
  const apps = [];
  for (const [name, contents, from] of sources) {
    const path = name.replaceAll(/\W+/g, '-');
    const outdir = join(folder, path);
    mkdirSync(outdir, { recursive: true });
    await build({
      stdin: { contents, resolveDir: home, loader: 'js', sourcefile: 'app.js' },
      outdir,
      entryNames: 'app',
      bundle: true,
      splitting: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      conditions: ['browser'],
      logLevel: 'silent',
      plugins: [libraryOf(name)],
    });
    // A package of before has one module for both roles.
    for (const module of ['host.wasm', 'agent.wasm', 'caphost_bg.wasm']) {
      const wasm = from && join(from, module);
      if (wasm && existsSync(wasm)) copyFileSync(wasm, join(outdir, module));
    }
    apps.push({ name, at: `/apps/${path}/app.js`, folder: outdir });
  }
  return { apps, folder };
}

const ports = 'const { port1, port2 } = new MessageChannel();';

/** @param {string} name */
function ofPeer(name) {
  const [file, adapter] = adapters[name] ?? [];
  const call = file === 'json-rpc-peers' ? '(await connect(library, port1, port2)).call' : 'await connect(library, port1, port2)';
  return `import * as library from 'library';
    import { ${adapter} as connect } from '${inPage}/${file}.mjs';
    export async function start(given) { ${ports} const call = ${call}; return call(given); }`;
}

const byHand = `import { plainAgent, plainHost } from '${inPage}/plain-abp.mjs';
  import { echo, hold } from '${inPage}/handlers.mjs';
  export async function start(given) {
    ${ports}
    plainHost(port1, { echo, hold });
    return (await (await plainAgent(port2)).call('echo', given)).data;
  }`;

/** @param {string} folder of the package */
const ours = (folder) => `import { createHost } from ${JSON.stringify(join(folder, 'index.js'))};
  import { connectPort } from ${JSON.stringify(join(folder, 'agent.js'))};
  import { echo, hold } from '${inPage}/handlers.mjs';
  export async function start(given) {
    ${ports}
    const host = await createHost({ app: { id: 'app', name: 'App', version: '1' } });
    host.register('echo', {}, echo);
    host.register('hold', {}, hold);
    host.acceptPort(port1);
    return (await (await connectPort(port2)).call('echo', given)).data;
  }`;

/** @param {string} name @returns {import('esbuild').Plugin} */
const libraryOf = (name) => ({
  name: 'library',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^library$/ }, () => ({ path: name, namespace: 'library' }));
    onLoad({ filter: /.*/, namespace: 'library' }, () => ({ contents: entry(name), resolveDir: home }));
  },
});

/**
 * @typedef {{ name: string, bytes: number, gzip: number, wasm: number, onDemand: number }} Weight
 *   `gzip`: bytes of all files that the app has loaded by its first answer; `wasm`: bytes of the wasm among them; `onDemand`: bytes of the other files
 */

/**
 * @param {App} app
 * @param {string[]} loaded names of the files that it has loaded
 * @returns {Weight}
 */
export function weigh({ name, folder }, loaded) {
  const files = readdirSync(folder).map((file) => {
    const content = readFileSync(join(folder, file));
    return { file, bytes: content.length, gzip: gzipSync(content, { level: 9 }).length };
  });
  const sum = (/** @type {'bytes' | 'gzip'} */ key, /** @type {(file: string) => boolean} */ wanted) =>
    files.filter(({ file }) => wanted(file)).reduce((total, it) => total + it[key], 0);
  const isLoaded = (/** @type {string} */ file) => loaded.includes(file);
  return {
    name,
    bytes: sum('bytes', isLoaded),
    gzip: sum('gzip', isLoaded),
    wasm: sum('gzip', (file) => isLoaded(file) && file.endsWith('.wasm')),
    onDemand: sum('gzip', (file) => !isLoaded(file)),
  };
}
