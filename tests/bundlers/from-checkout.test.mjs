/** Uses the package from a checkout in a separate project, as the documentation says. */
import assert from 'node:assert/strict';
import { lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { root } from '../../scripts/paths.mjs';
import { runLine, startLine } from '../e2e/examples/readme.mjs';
import { openWatched, useWorkplace } from './workplace.mjs';

const place = useWorkplace();
const { vite } = JSON.parse(readFileSync(join(root, 'tests', 'bundlers', 'package.json'), 'utf8')).devDependencies;
let folder = '';

/** @param {string} line */
const npm = (line) => runLine(line, { cwd: folder });

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'caphost-project-'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'project', private: true, type: 'module', devDependencies: { vite } }));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><link rel="icon" href="data:,"><script type="module" src="./main.js"></script>');
  writeFileSync(join(folder, 'main.js'), `
    import { createHost } from 'caphost';
    createHost({ app: { id: 'a', name: 'A', version: '1.0.0' } }).then(() => (document.title = 'works'), (error) => (document.title = error.message));
  `);
  await npm('npm install');
});
after(() => {
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** The text of the project's page in development. @param {import('node:test').TestContext} t */
async function said(t) {
  const { url } = await startLine(t, 'npx vite --port 0', { cwd: folder });
  const { page } = await openWatched(place, t, url);
  await page.waitForFunction(() => document.title !== '', { polling: 50 });
  return page.title();
}

test('a linked package: the error names the remedy', { timeout: 120_000 }, async (t) => {
  await npm(`npm install '${join(root, 'pkg')}'`);
  assert.ok(lstatSync(join(folder, 'node_modules', 'caphost')).isSymbolicLink());
  assert.match(await said(t), /^The wasm of caphost is not at http:.*\/@fs\/.*: 403.* `npm pack`/);
});

test('a package from the tarball works, also after another was installed', { timeout: 120_000 }, async (t) => {
  const page = readFileSync(join(root, 'docs', 'start', 'javascript.md'), 'utf8');
  const lines = /^```sh\n(.*?)^```$/ms.exec(page)?.[1]?.trim().split('\n') ?? [];
  assert.equal(lines.length, 3);
  assert.equal(lines[0], 'npm run build:package --prefix <checkout>');
  for (const line of lines.slice(1)) await npm(line.replace('<checkout>', root));
  await npm('npm install semver');
  assert.ok(!lstatSync(join(folder, 'node_modules', 'caphost')).isSymbolicLink());
  assert.equal(await said(t), 'works');
});
