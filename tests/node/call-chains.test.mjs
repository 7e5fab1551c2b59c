import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { inPage, newHost } from './host.mjs';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

test('a chain of calls, each made by the one before, takes memory by its length and not by the square of it', async () => {
  const host = await newHost({ maxInFlight: 100_000 });
  let held = 0;
  const memory = () => {
    gc();
    return process.memoryUsage().heapUsed;
  };
  /** @type {Record<number, number>} */
  const each = {};
  host.register('next', {}, async ({ left }, { call }) => {
    if (left > 0) return (await call('next', { left: left - 1 })).data;
    held = memory();
    return 'end';
  });
  const abp = await inPage(host);
  for (const length of [2_000, 8_000]) {
    const before = memory();
    const { success, data } = await abp.call('next', { left: length });
    assert.deepEqual([success, data], [true, 'end']);
    each[length] = (held - before) / length;
  }
  const [short, long] = [each[2_000] ?? 0, each[8_000] ?? 0];
  assert.ok(long < 1.5 * short && long < 8_000, `bytes of each call: ${Math.round(short)} of 2 000, ${Math.round(long)} of 8 000`);
});
