import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chart } from '../../../scripts/bench/page/chart.mjs';
import { verdicts } from '../../../scripts/bench/page/plan.mjs';
import { text } from '../../../scripts/bench/page/report.mjs';
import { inTurns } from '../../../scripts/bench/page/sampling.mjs';
import { at, summarise } from '../../../scripts/bench/page/statistics.mjs';

const samples = (/** @type {string} */ name, /** @type {number[][]} */ rounds) => ({ name, rounds, note: undefined, base: undefined, perSample: 1 });

describe('the figures of the page benchmark', () => {
  test('a ratio compares each round with the same round of the base', () => {
    // In the second round the machine was ten times slower, for both.
    const rows = summarise([samples('base', [[1], [10], [1]]), samples('ours', [[2], [20], [2]])], 'base');
    assert.deepEqual(rows.map(({ ratio, low, high }) => [ratio, low, high]), [[undefined, undefined, undefined], [2, 2, 2]]);
    assert.equal(rows[0]?.base, undefined);
  });

  test('99 of 100 samples are at most the p99', () => {
    assert.equal(at(Array.from({ length: 100 }, (_, i) => i + 1), 0.99), 100);
    assert.equal(at([3, 1, 2], 0.5), 2);
  });

  test('a contender that is not correct is not measured', async () => {
    let measured = 0;
    const wrong = { name: 'wrong', check: async () => { throw new Error('the answer: 1 instead of 2'); }, measure: async () => (measured += 1) };
    await assert.rejects(inTurns([wrong], { rounds: 1, roundMs: 1 }), { message: 'wrong is not correct: the answer: 1 instead of 2' });
    assert.equal(measured, 0);
  });

  test('contenders take turns, there and back again', async () => {
    /** @type {string[]} */
    const turns = [];
    const contender = (/** @type {string} */ name) => ({ name, exactly: 1, check: async () => {}, measure: async () => (turns.push(name), 1) });
    const [first] = await inTurns([contender('a'), contender('b')], { rounds: 2, roundMs: 0 });
    assert.deepEqual(turns.slice(-4), ['a', 'b', 'b', 'a']);
    assert.deepEqual(first?.rounds, [[1000], [1000]]);
  });

  const port = { title: 'A round trip', base: 'raw MessagePort', rows: [{ name: 'raw MessagePort', median: 10 }, { name: 'caphost: our agent, our host', base: 'raw MessagePort', median: 12, ratio: 1.2 }] };
  const memory = [{ title: 'a call in flight', rows: [{ name: 'caphost, in the page', js: 500, wasm: 300, bytes: 800 }] }];
  const report = { machine: { rounds: 1, browser: 'A & B', cores: 2, node: '20', quick: false }, versions: {}, missing: ['the rest'], groups: { port }, sizes: [], memory, targets: verdicts({ port }, memory) };

  test('a target is met or missed, and left out where nothing was measured', () => {
    assert.deepEqual(report.targets.map(({ value, met }) => [value, met]), [[1.2, true], [800, false]]);
    assert.match(text(report), /Not measured: the rest/);
    assert.match(text(report), /our agent over a MessagePort, against raw +× 1.2 +× 1.35 +met/);
  });

  test('the chart has a bar for each row, and is well-formed', () => {
    const svg = chart(report);
    assert.equal(svg.match(/<rect class="(ours|base)"/g)?.length, 2);
    assert.match(svg, /A &amp; B/);
  });
});
