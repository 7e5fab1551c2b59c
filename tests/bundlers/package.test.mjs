import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from '../../scripts/command.mjs';
import { packageDir } from '../../scripts/paths.mjs';

const programs = join(dirname(fileURLToPath(import.meta.url)), 'node_modules');

/** @param {string} program @param {string[]} args */
async function passes(program, ...args) {
  const { code, output } = await run(process.execPath, [join(programs, program), ...args], { cwd: packageDir, quiet: true, timeoutMs: 120_000 });
  assert.equal(code, 0, output);
}

test('publint finds nothing in the package', { timeout: 150_000 }, () => passes('publint/src/cli.js', '--strict'));

// The package has only ES modules. CommonJS loads it with import().
test('its types are found however TypeScript looks for them', { timeout: 150_000 }, () => passes('@arethetypeswrong/cli/dist/index.js', '--pack', '.', '--profile', 'esm-only'));

test('the package names its repository, and its source maps lead to the sources', () => {
  const { repository, keywords, exports } = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8'));
  assert.match(repository.url, /^git\+https:\/\/.*\.git$/);
  assert.ok(keywords.length >= 5);
  assert.deepEqual(Object.keys(exports), ['.', './agent', './automation', './activity', './inline', './inline/host', './inline/agent', './react', './worker.js', './package.json']);
  const modules = readdirSync(packageDir).filter((name) => name.endsWith('.js'));
  for (const name of modules) {
    const code = readFileSync(join(packageDir, name), 'utf8');
    assert.ok(code.endsWith(`//# sourceMappingURL=${name}.map`) || code.endsWith(`//# sourceMappingURL=${name}.map\n`), name);
    assert.ok(existsSync(join(packageDir, `${name}.map`)), name);
  }
  const { sources, sourcesContent } = JSON.parse(readFileSync(join(packageDir, 'inline.js.map'), 'utf8'));
  const agent = sources.findIndex((/** @type {string} */ path) => path.endsWith('src/web/js/agent.js'));
  assert.match(sourcesContent[agent], /^export class Agent /m);
});
