/** Installs and runs an example that has a `package.json`, as its README says. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { packageDir, root } from '../../scripts/paths.mjs';
import { commandsOf, runLine, startLine } from '../e2e/examples/readme.mjs';

/** The first commands in the README of each example. The package is built before the tests. @param {string} name */
export const first = (name) => ['npm run build:package', `cd examples/${name}`, 'npm install'];

/**
 * A copy of an example that a test may edit. A copy of the package is beside it, as in the repository.
 * No packages of the repository are within reach.
 *
 * @param {string} name
 */
export function useExample(name) {
  let base = '';
  const folder = () => join(base, 'examples', name);
  before(async () => {
    base = mkdtempSync(join(tmpdir(), 'caphost-example-'));
    cpSync(packageDir, join(base, 'pkg'), { recursive: true });
    cpSync(join(root, 'examples', name), folder(), { recursive: true, filter: (path) => !/node_modules|dist|package-lock/.test(path.slice(root.length)) });
    await runLine('npm install', { cwd: folder() });
  });
  after(() => {
    if (base) rmSync(base, { recursive: true, force: true });
  });
  return {
    get folder() {
      return folder();
    },
    commands: commandsOf(name),
    /** @param {string} line */
    run: (line) => runLine(line, { cwd: folder() }),
    /** @param {import('node:test').TestContext} t @param {string} line */
    start: async (t, line) => (await startLine(t, line, { cwd: folder() })).url,
  };
}
