import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../../scripts/paths.mjs';
import { advisoriesOn, lockedCrates, readAdvisories } from '../../../scripts/test/advisories.mjs';

const crates = lockedCrates(readFileSync(join(root, 'Cargo.lock'), 'utf8'));

test('an advisory on a locked version is found, and one on other versions is not', () => {
  const tokio = crates.find(({ name }) => name === 'tokio');
  assert.ok(tokio !== undefined);
  const { version } = tokio;
  const found = (/** @type {string[]} */ fine) => advisoriesOn([{ name: 'tokio', id: 'RUSTSEC-0000-0000', fine }], crates);
  for (const fine of [[], ['< 0.1'], [`> ${version}`], [`>= 0.1, < ${version}`], ['0.3.1', '^ 0.2'], [`=${version}1`]]) {
    assert.deepEqual(found(fine), [`tokio ${version}: RUSTSEC-0000-0000, https://rustsec.org/advisories/RUSTSEC-0000-0000`], fine.join());
  }
  for (const fine of [[`>= ${version}`], ['1.0'], ['>=1.0.0'], ['< 0.3', '> 0.9, < 99'], [`=${version}`], ['< 99, >= 1']]) {
    assert.deepEqual(found(fine), [], fine.join());
  }
});

test('an advisory that is no vulnerability names its kind', () => {
  const [line] = advisoriesOn([{ name: 'a', id: 'RUSTSEC-1', fine: [], about: 'unmaintained' }], [{ name: 'a', version: '1.0.0-rc.1' }]);
  assert.match(String(line), /^a 1\.0\.0-rc\.1: RUSTSEC-1 \(unmaintained\)/);
});

test('the copy has known advisories', () => {
  const { advisories, date, license } = readAdvisories();
  assert.match(date, /^\d{4}-\d\d-\d\d$/);
  assert.match(license, /CC0/);
  assert.ok(advisories.length > 800);
  const lines = advisoriesOn(advisories, [
    { name: 'bytes', version: '1.11.0' }, { name: 'bytes', version: '1.11.1' }, { name: 'bytes', version: '1.2.0' },
    { name: 'time', version: '0.2.22' }, { name: 'time', version: '0.2.6' },
    { name: 'hyper', version: '0.12.36' }, { name: 'ring', version: '0.16.20' },
  ]).map((line) => line.replace(/, https.*/, ''));
  assert.ok(lines.includes('bytes 1.11.0: RUSTSEC-2026-0007'));
  assert.ok(!lines.some((line) => line.startsWith('bytes 1.11.1') || line.startsWith('bytes 1.2.0')));
  assert.ok(lines.includes('time 0.2.22: RUSTSEC-2020-0071'));
  assert.ok(!lines.includes('time 0.2.6: RUSTSEC-2020-0071'));
  assert.ok(!lines.includes('hyper 0.12.36: RUSTSEC-2021-0020'));
  assert.ok(lines.includes('ring 0.16.20: RUSTSEC-2025-0010 (unmaintained)'));
  // This advisory is withdrawn.
  assert.ok(!lines.some((line) => line.includes('RUSTSEC-2025-0007')));
});

test('only crates from registries are read from Cargo.lock', () => {
  assert.ok(crates.length > 100);
  assert.ok(!crates.some(({ name }) => name.startsWith('caphost')));
});
