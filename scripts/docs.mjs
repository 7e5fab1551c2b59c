// Builds the documentation site into target/docs/: node docs.mjs [--serve]
// With --serve it also serves the site, and rebuilds it after every change, until it is stopped.

import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { must } from './command.mjs';
import { documentJavaScript, documentRust } from './docs/api.mjs';
import { packageDir, root } from './paths.mjs';
import { ensurePackages } from './setup/packages.mjs';

const folder = join(root, 'docs');

try {
  await ensurePackages((line) => console.error(`setup: ${line}`), folder);
  // The playground runs the built package.
  await build(['package']);
  const published = join(folder, 'public', 'caphost');
  rmSync(published, { recursive: true, force: true });
  cpSync(packageDir, published, { recursive: true, filter: (path) => path === packageDir || /(?<!\.node)\.(js|wasm)$/.test(path) });
  const api = join(folder, 'public', 'api');
  rmSync(api, { recursive: true, force: true });
  await Promise.all([documentRust(join(api, 'rust')), documentJavaScript(folder, join(api, 'js'))]);
  const command = process.argv.includes('--serve') ? 'dev' : 'build';
  await must(process.execPath, [join(folder, 'node_modules', 'vitepress', 'bin', 'vitepress.js'), command, '.'], { cwd: folder });
  if (command === 'build') console.log(`The site is in ${join(root, 'target', 'docs')}`);
} catch (error) {
  console.error(`docs: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
