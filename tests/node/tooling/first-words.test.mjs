/** The first words that a new user reads, and the first files that are copied. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../../scripts/paths.mjs';

const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n');
const text = (/** @type {string} */ path) => readFileSync(join(root, path), 'utf8');

test('a page that installs a package which is not published yet says how to get the package from a checkout', () => {
  const installs = /npm install caphost|cargo (?:install|add) caphost|npx caphost/;
  const pages = files.filter((path) => path.endsWith('.md') && path !== 'CHANGELOG.md' && existsSync(join(root, path)) && installs.test(text(path)));
  assert.ok(pages.length > 5, pages.join());
  for (const path of pages) assert.match(text(path), /checkout/, path);
});

test('cargo checks every example in Rust for the target of a page', () => {
  const examples = files.filter((path) => /^examples\/[^/]+\/Cargo\.toml$/.test(path));
  assert.ok(examples.length > 2, examples.join());
  for (const path of examples) assert.match(text(path.replace('Cargo.toml', '.cargo/config.toml')), /^target = "wasm32-unknown-unknown"$/m, path);
});

test('no item of the crate hides that the attribute `capability` needs a feature', () => {
  // The compiler names the feature only if nothing else of the crate has the name.
  const named = text('src/lib.rs').match(/^.*\bpub (?:use|mod|fn|struct|type|trait)\b.*\bcapability\b.*$/gm);
  assert.deepEqual(named, ['pub use caphost_macros::capability;']);
});
