import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { run } from '../../scripts/command.mjs';
import { conformanceBinary, targetDir } from '../../scripts/paths.mjs';
import { liar, runSuite, those } from './suite.mjs';

/** For each way to break the rules: the requirements that are run, and those of them that must be found broken. @type {Record<string, [string[], string[]]>} */
const mcp = {
  'counts-on': [['01', '03', '04', '22'], ['03', '22']],
  'answers-twice': [['01', '03', '22'], ['01', '22']],
  'never-answers': [['01', '03'], ['01']],
  deaf: [['01', '03', '22'], ['03', '22']],
  'answers-cancelled': [['01', '03', '04'], ['04']],
  dies: [['01', '05'], ['05']],
};

const ids = (/** @type {string} */ set, /** @type {string[]} */ numbers) => numbers.map((number) => `${set}-C-${number}`);

describe('the cancellation suite on peers that break the rules', { concurrency: 6 }, () => {
  for (const [way, [run_, broken]] of Object.entries(mcp)) {
    test(`MCP: finds a peer that ${way}`, async () => {
      const found = await runSuite('mcp', '--only', ids('MCP', run_).join(','), '--', process.execPath, liar, 'mcp', way);
      assert.equal(found.code, 1, found.output);
      assert.deepEqual(those(found, 'broken'), ids('MCP', broken), found.output);
      assert.deepEqual(those(found, 'held'), ids('MCP', run_.filter((it) => !broken.includes(it))), found.output);
    });
  }

  test('MCP: finds nothing in a peer that keeps the rules', async () => {
    const found = await runSuite('mcp', '--', process.execPath, liar, 'mcp', 'honest');
    assert.equal(found.code, 0, found.output);
    assert.equal(those(found, 'held').length, 19, found.output);
  });

  test('says in JSON, JUnit and HTML what was seen', async () => {
    const found = await runSuite('mcp', '--only', 'C-01,C-04,C-08', '--', process.execPath, liar, 'mcp', 'answers-cancelled');
    const [row] = found.broken;
    assert.deepEqual(row && { id: row.id, level: row.level, seen: row.seen }, { id: 'MCP-C-04', level: 'should', seen: 'the cancelled request was answered with that it was cancelled' });
    assert.match(found.junit, /<testsuite name="[^"]*" tests="3" failures="1" skipped="1"/);
    assert.match(found.junit, /MCP-C-04[^>]*><failure message="the cancelled request was answered/);
    assert.match(found.html, /Not all that is required holds/);
    assert.match(found.html, /<p class="seen">the cancelled request was answered/);
  });

  test('a broken requirement that is expected is no failure, and one that holds is', async () => {
    const file = join(targetDir, 'conformance-reports', 'expected.txt');
    const look = (/** @type {string} */ way) => runSuite('mcp', '--only', 'C-01,C-04', '--expected', file, '--', process.execPath, liar, 'mcp', way);
    await runSuite('mcp', '--list');
    writeFileSync(file, '# a comment\nMCP-C-04 it always answers\n');
    assert.equal((await look('answers-cancelled')).code, 0);
    const held = await look('honest');
    assert.equal(held.code, 1, held.output);
    assert.match(held.junit, /was expected to be broken/);
  });

  test('what is below the required level is no failure', async () => {
    const ask = (/** @type {string} */ level) => run(conformanceBinary, ['mcp', '--only', 'C-01,C-04', '--require', level, '--', process.execPath, liar, 'mcp', 'answers-cancelled'], { quiet: true });
    assert.deepEqual((await Promise.all([ask('must'), ask('should')])).map(({ code }) => code), [0, 1]);
  });

  test('a wrong command line is status 2, a peer that cannot be reached is 1', async () => {
    const status = async (/** @type {string[]} */ ...args) => (await run(conformanceBinary, args, { quiet: true })).code;
    assert.equal(await status('mcp'), 2);
    assert.equal(await status('smtp', '--url', 'http://127.0.0.1:1'), 2);
    assert.equal(await status('mcp', '--url', 'http://127.0.0.1:1', '--expected', '/nowhere'), 2);
    assert.equal(await status('mcp', '--url', 'http://127.0.0.1:1/', '--', 'node'), 2);
    assert.equal(await status('mcp', '--url', 'http://127.0.0.1:1/mcp'), 1);
    assert.equal(await status('mcp', '--', 'no-such-program'), 1);
  });
});
