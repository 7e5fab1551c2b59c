// Builds the documentation site into target/docs/: node docs.mjs [--serve]
// With --serve it is served, and follows what is written, until it is stopped.

import { join } from 'node:path';
import { must } from './command.mjs';
import { root } from './paths.mjs';
import { ensurePackages } from './setup/packages.mjs';

const folder = join(root, 'docs');

try {
  await ensurePackages((line) => console.error(`setup: ${line}`), folder);
  const command = process.argv.includes('--serve') ? 'dev' : 'build';
  await must(process.execPath, [join(folder, 'node_modules', 'vitepress', 'bin', 'vitepress.js'), command, '.'], { cwd: folder });
  if (command === 'build') console.log(`The site is in ${join(root, 'target', 'docs')}`);
} catch (error) {
  console.error(`docs: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
