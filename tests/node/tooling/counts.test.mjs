import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countNodeTests, countRustTests, nodeFailures, rustFailures, settle } from '../../../scripts/test/counts.mjs';

describe('counting tests', () => {
  test('adds up every binary of a cargo run', () => {
    const output = [
      'running 2 tests',
      'test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s',
      'test result: FAILED. 3 passed; 1 failed; 4 ignored; 0 measured; 0 filtered out',
    ].join('\n');
    assert.deepEqual(countRustTests(output), { passed: 5, failed: 1, skipped: 4 });
  });

  test('the failures of a target that breaks off have no names', () => {
    const block = '\nfailures:\n    a::b\n    c\n\ntest result: FAILED. 3 passed; 2 failed; 0 ignored\n';
    const list = (/** @type {string[]} */ ...targets) => `error: ${targets.length} target failed:\n${targets.map((it) => `    \`${it}\`\n`).join('')}`;
    assert.deepEqual(rustFailures(block + list('-p one --test two')), ['a::b', 'c'].map((test) => ({ package: 'one', target: ['--test', 'two'], test })));
    assert.equal(rustFailures(block + list('-p one --lib', '-p one --test two')), undefined);
    assert.equal(rustFailures('error: could not compile `one`'), undefined);
  });

  test("counts a cancelled test of Node's as failed", () => {
    const tap = '# tests 6\n# suites 1\n# pass 3\n# fail 1\n# cancelled 1\n# skipped 1\n# todo 0\n';
    assert.deepEqual(countNodeTests(tap), { passed: 3, failed: 2, skipped: 1 });
  });

  test('says of each failed test where it threw, and the error in short', () => {
    const stack = '      stack: |-\n        helper (file:///a/helper.mjs:1:2)\n        async TestContext.<anonymous> (file:///a/b.test.mjs:9:24)';
    const tap = [
      '# Subtest: outer',
      '    not ok 1 - inner', '      ---', "      location: '/a/b.test.mjs:5:3'", "      failureType: 'testCodeFailure'",
      '      error: |-', '        It is', '        wrong', "      code: 'ERR_ASSERTION'", stack, '      ...',
      '    ok 2 - another', '      ---', '      duration_ms: 1', '      ...',
      'not ok 1 - outer', '  ---', "  location: '/a/b.test.mjs:4:1'", "  failureType: 'subtestsFailed'", "  error: '1 subtest failed'", '  ...',
      'not ok 2 - slow', '  ---', "  location: '/a/b.test.mjs:20:1'", "  failureType: 'testTimeoutFailure'", "  error: 'test timed out after 100ms'", '  ...',
    ].join('\n');
    assert.deepEqual(nodeFailures(tap), ['inner (b.test.mjs:9): It is wrong', "slow (b.test.mjs:20): 'test timed out after 100ms'"]);
  });

  test('a suite that broke off is a failure', () => {
    assert.equal(settle(101, { passed: 7, failed: 0, skipped: 0 }).failed, 1);
  });

  test('a suite that found nothing is a failure', () => {
    assert.equal(settle(0, { passed: 0, failed: 0, skipped: 0 }).failed, 1);
  });

  test('a failure already counted is not counted twice', () => {
    assert.deepEqual(settle(101, { passed: 7, failed: 2, skipped: 0 }), { passed: 7, failed: 2, skipped: 0 });
  });
});
