import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tooOld } from '../../../scripts/test/msrv.mjs';

/** @param {string} name @param {string | null} rust @param {Record<string, string | null>} [deps] the kinds of the dependencies, by name */
const crate = (name, rust, deps = {}) => ({
  package: { id: name, name, version: '1.0.0', rust_version: rust },
  node: { id: name, deps: Object.entries(deps).map(([pkg, kind]) => ({ pkg, dep_kinds: [{ kind }] })) },
});

/** @param {ReturnType<typeof crate>[]} crates */
const metadata = (...crates) => ({ packages: crates.map((it) => it.package), resolve: { nodes: crates.map((it) => it.node) } });

test('a crate with an older rust-version than a dependency of a dependency needs is reported with this dependency', () => {
  const far = crate('far', '1.100.1');
  const crates = [crate('near', '1.70', { far: 'build', own: null }), far, crate('own', '1.89')];
  assert.deepEqual(tooOld(metadata(crate('ours', '1.100', { near: null }), ...crates), 'ours'), ['ours says rust-version 1.100, and far 1.0.0 needs 1.100.1']);
  assert.deepEqual(tooOld(metadata(crate('ours', '1.100.1', { near: null }), ...crates), 'ours'), []);
  assert.deepEqual(tooOld(metadata(crate('ours', null), ...crates), 'ours'), ['ours has no rust-version']);
});

test('dependencies only for tests, and dependencies without a rust-version, do not count', () => {
  const crates = [crate('tester', '1.200'), crate('quiet', null)];
  assert.deepEqual(tooOld(metadata(crate('ours', '1.89', { tester: 'dev', quiet: null }), ...crates), 'ours'), []);
});
