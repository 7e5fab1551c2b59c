import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { must } from '../command.mjs';
import { packageDir, root, targetDir } from '../paths.mjs';

const wasm = 'wasm32-unknown-unknown';

/**
 * Builds the rustdoc pages of the crate, in the same way as the tests.
 *
 * @param {string} out
 */
export async function documentRust(out) {
  await must('cargo', ['doc', '--locked', '--no-deps', '--all-features', '--package', 'caphost', '--target', wasm]);
  cpSync(join(targetDir, wasm, 'doc'), out, { recursive: true });
  // The help and settings pages link back to this page.
  writeFileSync(join(out, 'index.html'), '<!doctype html><meta http-equiv="refresh" content="0; url=caphost/index.html"><a href="caphost/index.html">caphost</a>');
}

/**
 * Builds the typedoc pages from the types of the npm package.
 *
 * @param {string} folder the folder that has typedoc
 * @param {string} out
 */
export async function documentJavaScript(folder, out) {
  const entries = ['index', 'agent', 'automation', 'activity'].map((name) => join(packageDir, `${name}.d.ts`));
  await must(process.execPath, [
    join(folder, 'node_modules', 'typedoc', 'bin', 'typedoc'),
    ...['--tsconfig', join(root, 'scripts', 'docs', 'tsconfig.json')],
    ...['--out', out, '--name', 'caphost', '--readme', 'none', '--logLevel', 'Warn'],
    ...['--disableGit', '--disableSources', '--excludePrivate', '--excludeExternals'],
    ...entries,
  ]);
}
