import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, dirname, join } from 'node:path';
import { findChromium } from '../../../scripts/browser/find.mjs';
import { chromiumFlags } from '../../../scripts/browser/flags.mjs';
import { run } from '../../../scripts/command.mjs';
import { gatewayBinary, root } from '../../../scripts/paths.mjs';
import { startGateway } from '../support/gateway.mjs';
import { block } from './blocks.mjs';

const parentPage = `<!doctype html>
<title>A parent page</title>
<link rel="icon" href="data:,">
<script type="importmap">{ "imports": { "caphost/agent": "/caphost/agent.js" } }</script>
<iframe src="/"></iframe>
<script type="module" src="parent.js"></script>`;

/**
 * The README's JavaScript app, served by a gateway, and a folder to run the README's agents in. The
 * agents run unchanged, except for the address and for `/slow`, which nothing answers.
 */
export async function serveReadmeApp() {
  // The folder is inside the repository, so that the packages are found.
  mkdirSync(join(root, 'target'), { recursive: true });
  const folder = mkdtempSync(join(root, 'target', 'readme-'));
  const site = join(folder, 'site');
  mkdirSync(site);
  const gateway = await startGateway({ args: ['--www', site, '--content-security-policy', ''] });
  const silent = createServer(() => {});
  await new Promise((resolve) => silent.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (silent.address());
  const code = (/** @type {string} */ name) =>
    block(name).replaceAll('127.0.0.1:8787', new URL(gateway.url).host).replaceAll("'/slow'", `'http://127.0.0.1:${port}/'`);
  for (const name of ['app.js', 'index.html', 'parent.js']) writeFileSync(join(site, name), code(name));
  writeFileSync(join(site, 'parent.html'), parentPage);
  // As editors save files: with a newline at the end, which is no word.
  writeFileSync(join(site, 'a.txt'), 'one two three\n');
  writeFileSync(join(site, 'b.txt'), 'four five\n');
  writeFileSync(join(site, 'params.json'), '{ "urls": ["/b.txt"] }');

  return {
    url: (/** @type {string} */ path) => new URL(path, gateway.url).href,
    /** Runs an agent in Node, and returns its output. @param {string} name */
    async runAgent(name) {
      writeFileSync(join(folder, name), code(name));
      const env = { CHROME: browserIn(folder) };
      const { code: status, output } = await run(process.execPath, [join(folder, name)], { cwd: folder, env, quiet: true, timeoutMs: 60_000 });
      if (status !== 0) throw new Error(`${name} ended with ${status}\n${output}`);
      return output.trim();
    },
    /** Runs a line in the site's folder as a shell would, and returns its output. @param {string} line */
    async runLine(line) {
      const env = { CAPHOST_GATEWAY: gateway.url, PATH: `${dirname(gatewayBinary)}${delimiter}${process.env.PATH}` };
      const { code: status, output } = await run('sh', ['-c', line], { cwd: site, env, quiet: true, timeoutMs: 60_000 });
      if (status !== 0) throw new Error(`${line} ended with ${status}\n${output}`);
      return output.trim();
    },
    async close() {
      silent.closeAllConnections();
      silent.close();
      await gateway.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Makes a command that starts the tests' browser with the tests' flags, because the README's agents pass no flags.
 *
 * @param {string} folder
 * @returns {string} the path of the command
 */
export function browserIn(folder) {
  const chromium = findChromium();
  if (chromium === undefined) throw new Error('no Chromium found: `npm run setup` gets one');
  if (process.platform === 'win32') return chromium;
  const wrapper = join(folder, 'chromium');
  writeFileSync(wrapper, `#!/bin/sh\nexec '${chromium}' ${chromiumFlags().join(' ')} "$@"\n`);
  chmodSync(wrapper, 0o755);
  return wrapper;
}
