import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../../../scripts/paths.mjs';
import { inLab, useLab } from '../support/lab.mjs';

/** The names of `kinds` in fixtures/jsonrpc-page/peers.js. @type {{ name: string, mcp: boolean }[]} */
export const kinds = [
  ...['legacy', 'auto'].flatMap((mode) => ['over a MessagePort', "with MCP-B's tab transport", "with MCP-B's frame transport"].map((way) => ({
    name: `@modelcontextprotocol/client, ${mode}, ${way}`, mcp: true,
  }))),
  ...['@agentclientprotocol/sdk over a MessagePort', 'vscode-jsonrpc over a MessagePort', 'vscode-jsonrpc over a Worker'].map((name) => ({ name, mcp: false })),
];

/** Bundles the published clients into one script for a page. */
async function bundlePeers() {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'tests', 'e2e', 'fixtures', 'jsonrpc-page', 'peers.js')],
    bundle: true, write: false, format: 'esm', platform: 'browser', target: 'es2022', logLevel: 'error',
  });
  return { '/peers.js': { body: String(outputFiles[0]?.text), contentType: 'text/javascript; charset=utf-8' } };
}

/** Pages with `lab` and `peers`. */
export function usePeers() {
  const lab = useLab(async () => ({ pages: await bundlePeers() }));
  return {
    ...lab,
    /**
     * Runs a function in a new page with a host and a client of this kind.
     *
     * @param {string} kind
     * @param {(it: { lab: any, host: any, peer: any, settle: any, until: any, state: () => Promise<any> }, ...args: any[]) => any} work
     * @param {any[]} args
     * @returns {Promise<any>}
     */
    withPeer: (kind, work, ...args) => lab.inPage(async (page) => {
      await page.addScriptTag({ url: '/peers.js', type: 'module' });
      await page.waitForFunction('globalThis.peers');
      return inLab(page, async (given, kind, source, args) => {
        const { registerWork } = await import(`${location.origin}/jsonrpc-page/app.js`);
        const host = await given.newHost();
        registerWork(host);
        const peer = await /** @type {any} */ (globalThis).peers.find((/** @type {any} */ it) => it.name === kind).connect(host);
        /** @param {Promise<any>} promise */
        const settle = (promise) => promise.then(
          (data) => ({ data }),
          ({ code, message, data, isError }) => ({ code, message, ...(data && { details: data }), ...(isError && { isError }) }),
        );
        const state = () => peer.call('test.state');
        /** @param {() => any} holds */
        const until = async (holds) => {
          const since = performance.now();
          while (!(await holds())) {
            if (performance.now() - since > 10_000) throw new Error(`in vain: ${holds}`);
            await new Promise((resolve) => setTimeout(resolve, 2));
          }
        };
        return (0, eval)(`(${source})`)({ lab: given, host, peer, settle, until, state }, ...args);
      }, kind, String(work), args);
    }),
  };
}
