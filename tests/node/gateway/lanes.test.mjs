import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Lanes } from '../../../src/web/js/gateway/lanes.js';

describe('the messages that wait for a socket', () => {
  test('take turns, each agent in its own order', () => {
    const lanes = new Lanes();
    for (const text of ['a', 'A'.repeat(10_000), 'aa']) lanes.add('a', text);
    for (const text of ['b', 'B'.repeat(5_000), 'bb']) lanes.add('b', text);
    lanes.add('c', 'c');
    const all = [];
    while (!lanes.isEmpty) all.push((lanes.next() ?? '').slice(0, 2));
    assert.deepEqual(all, ['a', 'b', 'c', 'BB', 'bb', 'AA', 'aa']);
    assert.equal(lanes.next(), undefined);
  });

  test('go on after they were cleared', () => {
    const lanes = new Lanes();
    for (const agent of ['a', 'b', 'a']) lanes.add(agent, 'old');
    lanes.clear();
    assert.equal(lanes.isEmpty, true);
    lanes.add('a', 'new');
    assert.deepEqual([lanes.next(), lanes.next()], ['new', undefined]);
  });
});
