import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { lockedVersion, packageDir } from '../../../scripts/paths.mjs';

/** All modules that an import of a file loads at once. @param {string} file @param {Set<string>} [seen] @returns {Set<string>} */
function loadedBy(file, seen = new Set()) {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(join(packageDir, file), 'utf8');
  for (const [, name = ''] of text.matchAll(/(?:\bfrom|\bimport)\s*"\.\/([^"]+)"/g)) loadedBy(name, seen);
  return seen;
}

/** @param {string} text */
const modulesHolding = (text) => readdirSync(packageDir)
  .filter((name) => name.endsWith('.js') && readFileSync(join(packageDir, name), 'utf8').replaceAll(', ', ',').includes(text));

describe('the npm package', () => {
  const { exports, version } = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8'));

  test('exports the host, the agent and the automation client, each with its types', () => {
    for (const entry of ['.', './agent', './automation']) {
      const targets = /** @type {string[]} */ (Object.values(exports[entry]));
      assert.deepEqual(Object.keys(exports[entry]), ['types', 'node', 'default']);
      assert.deepEqual(targets.filter((path) => !existsSync(join(packageDir, path))), []);
    }
    assert.equal(version, lockedVersion('caphost'));
  });

  test('loads the wasm module of a role with the entry point of that role alone', () => {
    for (const [entry, own, other] of [['index', 'host', 'agent'], ['agent', 'agent', 'host']]) {
      for (const variant of [`${entry}.js`, `${entry}.node.js`]) {
        const loaded = loadedBy(variant);
        const loads = (/** @type {string | undefined} */ role) => modulesHolding(`new URL("./${role}.wasm",import.meta.url)`).some((name) => loaded.has(name));
        assert.deepEqual([loads(own), loads(other)], [true, false], variant);
      }
    }
    assert.deepEqual(readdirSync(packageDir).filter((name) => name.endsWith('.wasm')).sort(), ['agent.wasm', 'host.wasm']);
  });

  test('loads the schema validator only when it is asked for', () => {
    const validators = modulesHolding('must be a multiple of');
    assert.ok(validators.length > 0);
    for (const entry of ['index.js', 'agent.js', 'automation.js', 'index.node.js', 'agent.node.js', 'automation.node.js']) {
      assert.deepEqual(validators.filter((name) => loadedBy(entry).has(name)), [], entry);
    }
  });

  test('has the sources of its maps inside of these, under names that are no files', () => {
    const maps = readdirSync(packageDir).filter((name) => name.endsWith('.map'));
    const sources = maps.flatMap((name) => {
      const { sources, sourcesContent = [] } = JSON.parse(readFileSync(join(packageDir, name), 'utf8'));
      assert.equal(sourcesContent.filter(Boolean).length, sources.length, name);
      return sources;
    });
    assert.ok(sources.includes('caphost:///src/web/js/connect.js'));
    assert.deepEqual(sources.filter((it) => !it.startsWith('caphost:///')), []);
  });

  test('imports nothing but itself and Node', () => {
    for (const name of readdirSync(packageDir).filter((file) => file.endsWith('.js'))) {
      const imported = [...readFileSync(join(packageDir, name), 'utf8').matchAll(/\b(?:from|import)\s*\(?"([^"]+)"/g)].map(([, path = '']) => path);
      assert.deepEqual(imported.filter((path) => !/^(\.\/|node:|ws$)/.test(path)), [], name);
    }
  });
});
