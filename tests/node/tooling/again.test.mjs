/** A failed test runs once more, alone, when its suite is over. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { runCargoTests } from '../../../scripts/test/cargo-tests.mjs';
import { summaryOf } from '../../../scripts/test/summary.mjs';
import { runTestFiles } from '../../../scripts/test/test-files.mjs';

/** @param {import('node:test').TestContext} t @param {Record<string, string>} files by their paths */
function folderOf(t, files) {
  const folder = mkdtempSync(join(tmpdir(), 'caphost-again-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** The source of a test that fails unless a file of this name exists, and creates the file. @param {string} name */
const firstTimeOnly = (name) => `
import assert from 'node:assert';
import { existsSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
test('is fine', () => {});
test('fails at first', () => {
  const mark = new URL('./${name}.mark', import.meta.url);
  const again = existsSync(mark);
  writeFileSync(mark, String(process.pid));
  assert.ok(again, 'for the first time');
});
test('is left out', { skip: true }, () => {});
`;

/** @param {string} folder @param {string[]} names @param {Partial<import('../../../scripts/test/test-files.mjs').Plan>} [more] */
const plan = (folder, names, more = {}) => ({
  base: folder,
  files: names.map((name) => join(folder, `${name}.test.mjs`)),
  concurrency: 2,
  timeoutMs: 60_000,
  fileTimeoutMs: 30_000,
  namePatterns: [],
  quiet: true,
  reports: join(folder, 'reports'),
  ...more,
});

const passes = "import { test } from 'node:test'; test('a', () => {}); test('b', () => {});";
const broken = "import { test } from 'node:test'; test('a', () => {}); test('never right', () => { throw new Error('broken'); });";

/** @param {import('../../../scripts/test/suites.mjs').Outcome} outcome */
const counts = ({ passed, failed, skipped }) => ({ passed, failed, skipped });

test('a file that fails the first time only counts once, as passed, and is called unsteady', { timeout: 60_000 }, async (t) => {
  const folder = folderOf(t, { 'steady.test.mjs': passes, 'deep/unsteady.test.mjs': firstTimeOnly('unsteady') });
  const first = await runTestFiles(plan(folder, ['steady', 'deep/unsteady']));
  assert.deepEqual(counts(first), { passed: 3, failed: 1, skipped: 1 });
  assert.equal(first.failures?.length, 1);
  const settled = await first.again?.() ?? first;
  assert.deepEqual(counts(settled), { passed: 4, failed: 0, skipped: 1 });
  assert.deepEqual(settled.failures, []);
  assert.equal(settled.unsteady?.length, 1);
  assert.match(settled.unsteady?.[0] ?? '', /^deep\/unsteady\.test\.mjs: fails at first \(unsteady\.test\.mjs:\d+\): .*for the first time/);
  // The first report is kept.
  assert.match(readFileSync(join(folder, 'reports', 'deep', 'unsteady.tap'), 'utf8'), /^not ok 2 - fails at first/m);
  assert.match(readFileSync(join(folder, 'reports', 'deep', 'unsteady.again.tap'), 'utf8'), /^ok 2 - fails at first/m);
});

test('a file that fails twice has failed, and no other runs twice', { timeout: 60_000 }, async (t) => {
  const folder = folderOf(t, { 'steady.test.mjs': passes, 'broken.test.mjs': broken });
  const first = await runTestFiles(plan(folder, ['steady', 'broken']));
  const settled = await first.again?.() ?? first;
  assert.deepEqual(counts(settled), { passed: 3, failed: 1, skipped: 0 });
  assert.deepEqual(settled.unsteady, []);
  assert.match(settled.failures?.[0] ?? '', /^never right \(broken\.test\.mjs:1\): .*broken/);
  assert.throws(() => readFileSync(join(folder, 'reports', 'steady.again.tap')), { code: 'ENOENT' });
});

test('files that fail run again one by one', { timeout: 60_000 }, async (t) => {
  const meets = `${firstTimeOnly('NAME')}
    const others = new URL('./at-work', import.meta.url);
    test('is alone the second time', async () => {
      const { rmSync } = await import('node:fs');
      if (!existsSync(new URL('./second', import.meta.url))) return;
      assert.ok(!existsSync(others), 'another is at work');
      writeFileSync(others, '');
      await new Promise((resolve) => setTimeout(resolve, 200));
      rmSync(others);
    });`;
  const names = ['one', 'two', 'three'];
  const folder = folderOf(t, Object.fromEntries(names.map((name) => [`${name}.test.mjs`, meets.replace('NAME', name)])));
  const first = await runTestFiles(plan(folder, names, { concurrency: 3 }));
  assert.equal(first.failed, 3);
  writeFileSync(join(folder, 'second'), '');
  const settled = await first.again?.() ?? first;
  assert.deepEqual(counts(settled), { passed: 9, failed: 0, skipped: 3 });
  assert.equal(settled.unsteady?.length, 3);
});

test('a hanging file is named, and ended with everything that it has started', { timeout: 60_000 }, async (t) => {
  const hangs = `
    import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    import { test } from 'node:test';
    test('never ends', () => {
      const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
      writeFileSync(new URL('./child', import.meta.url), String(child.pid));
      for (;;);
    });`;
  const folder = folderOf(t, { 'steady.test.mjs': passes, 'hangs.test.mjs': hangs });
  const first = await runTestFiles(plan(folder, ['hangs', 'steady'], { fileTimeoutMs: 3000 }));
  assert.deepEqual(counts(first), { passed: 2, failed: 1, skipped: 0 });
  assert.deepEqual(first.failures, ['hangs.test.mjs: ran out of time']);
  const child = Number(readFileSync(join(folder, 'child'), 'utf8'));
  const ended = () => { try { process.kill(child, 0); return false; } catch { return true; } };
  while (!ended()) await pause(20);
});

test('a file that breaks off, or holds no test, has failed', { timeout: 60_000 }, async (t) => {
  const folder = folderOf(t, { 'empty.test.mjs': '', 'wrong.test.mjs': 'it is no program', 'late.test.mjs': `${passes}\nprocess.on('exit', () => { process.exitCode = 3; });` });
  const { passed, failed, failures } = await runTestFiles(plan(folder, ['empty', 'wrong', 'late']));
  assert.deepEqual({ passed, failed }, { passed: 2, failed: 3 });
  assert.deepEqual(failures?.sort(), ['empty.test.mjs: found no test', 'late.test.mjs: ended with 3', 'wrong.test.mjs: ended with 1']);
});

test('tests with other names than the requested one are left out', { timeout: 60_000 }, async (t) => {
  const folder = folderOf(t, { 'steady.test.mjs': passes, 'broken.test.mjs': broken });
  const { passed, failed } = await runTestFiles(plan(folder, ['steady', 'broken'], { namePatterns: ['^b$'] }));
  assert.deepEqual({ passed, failed }, { passed: 1, failed: 0 });
});

test('if many files have failed, something is broken, and nothing runs again', { timeout: 60_000 }, async (t) => {
  const names = Array.from({ length: 11 }, (_, n) => `broken-${n}`);
  const folder = folderOf(t, Object.fromEntries(names.map((name) => [`${name}.test.mjs`, broken])));
  const first = await runTestFiles(plan(folder, names));
  assert.deepEqual([first.failed, first.again], [11, undefined]);
});

test('a test in Rust that fails the first time only passes alone, and is called unsteady', { timeout: 120_000 }, async (t) => {
  const mark = (/** @type {string} */ name) => `{ let mark = concat!(env!("CARGO_MANIFEST_DIR"), "/${name}"); let again = std::fs::exists(mark).unwrap(); std::fs::write(mark, "").unwrap(); assert!(again); }`;
  const folder = folderOf(t, {
    'Cargo.toml': '[package]\nname = "shaky"\nversion = "0.1.0"\nedition = "2024"\n[workspace]\n',
    'Cargo.lock': 'version = 4\n\n[[package]]\nname = "shaky"\nversion = "0.1.0"\n',
    'src/lib.rs': `mod inner { #[test] fn shaky() ${mark('first')} #[test] fn fine() {} #[test] fn shaky_too() {} }`,
    'tests/outer.rs': `#[test] fn shaky() ${mark('second')} #[test] fn broken() { panic!("broken") }`,
  });
  const first = await runCargoTests([{ packages: ['shaky'] }], { filters: [], timeoutMs: 60_000, env: { CARGO_TARGET_DIR: join(folder, 'target') }, cwd: folder, quiet: true });
  assert.deepEqual(counts(first), { passed: 2, failed: 3, skipped: 0 });
  const settled = await first.again?.() ?? first;
  assert.deepEqual(counts(settled), { passed: 4, failed: 1, skipped: 0 });
  assert.deepEqual(settled.unsteady, ['shaky --lib: inner::shaky', 'shaky --test outer: shaky']);
  assert.deepEqual(settled.failures, ['shaky --test outer: broken']);
});

test('the summary lists what was unsteady, and more than three of these fail the run', () => {
  const suite = (/** @type {string[]} */ ...unsteady) => ({ name: 'e2e', seconds: 1, outcome: { passed: 7, failed: 0, skipped: 0, failures: [], unsteady } });
  const three = summaryOf([suite('a', 'b'), suite('c')]);
  assert.deepEqual([three.closing, three.failed, three.unsteady], ['14 passed, 0 failed', 0, ['a', 'b', 'c']]);
  assert.deepEqual(three.lines.slice(-5), ['', 'Unsteady, failed at first and passed alone:', 'a', 'b', 'c']);
  const four = summaryOf([suite('a', 'b'), suite('c', 'd')]);
  assert.deepEqual([four.closing, four.failed], ['14 passed, 1 failed', 1]);
  assert.equal(four.lines.at(-1), '4 were unsteady, and at most 3 may be');
  assert.deepEqual(summaryOf([], ['The set up has failed']).closing, '0 passed, 1 failed');
});
