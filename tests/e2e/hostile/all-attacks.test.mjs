import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attacks } from '../../../scripts/attack/attackers.mjs';
import { attack } from '../../../scripts/attack/run.mjs';
import { misdeeds } from '../../../scripts/attack/report.mjs';
import { possible } from '../../../scripts/attack/workers.mjs';

test('all attacks at once cost an honest app and agent nothing but time, and leave nothing behind', { timeout: 120_000 }, async (t) => {
  const { names, skipped } = await possible(Object.keys(attacks));
  for (const { name, why } of skipped) t.diagnostic(`not run: ${name}, because ${why}`);
  const figures = await attack(names, { seconds: 5 });
  assert.deepEqual(misdeeds(figures), []);
  // `npm run attack` judges how long the calls took, on an idle machine.
  t.diagnostic(`${figures.during.calls} honest calls, 99 of 100 within ${figures.during.p99.toFixed(1)} ms, ${figures.before.p99.toFixed(1)} ms before; ${Math.round(figures.memory.peak / 1e6)} MB at most`);
});
