/** An example with a `package.json`, installed and run as its README says. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { packageDir, root } from '../../scripts/paths.mjs';
import { commandsOf, runLine, startLine } from '../e2e/examples/readme.mjs';

/** What comes first in each of their READMEs. The package is built before the tests. @param {string} name */
export const first = (name) => ['npm run build:package', `cd examples/${name}`, 'npm install'];

/**
 * A copy that a test may edit, beside a copy of the package as in the repository, and far from
 * packages of the repository's own.
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
