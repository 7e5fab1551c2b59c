import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startBalancer } from '../support/balancer.mjs';
import { startRedis } from '../support/redis.mjs';
import { startStormApp } from '../support/storm/app.mjs';
import { callAndCancel, dice, keepConnected } from '../support/storm/caller.mjs';
import { operatorOf } from '../support/storm/operator.mjs';
import { contradictions, endOf } from '../support/storm/verdict.mjs';
import { startWorkers } from '../support/workers.mjs';

/** @typedef {import('../support/workers.mjs').Worker} Worker */
/** @typedef {Awaited<ReturnType<typeof startBalancer<Worker>>>} Front */

const total = Number(process.env.CAPHOST_STORM_CALLS ?? 20_000);
/** Calls in flight of each agent. */
const width = 40;

/** @type {import('../support/redis.mjs').Redis} */
let redis;
/** @type {import('../support/workers.mjs').Worker[]} */
let workers = [];
/** What stands before the workers: of the app, and of the agents. @type {Awaited<ReturnType<typeof startBalancer>>[]} */
let fronts = [];

before(async () => {
  redis = await startRedis({ durable: true });
  workers = await startWorkers(redis, 4, ['--max-retained', String(2 * total)]);
  const order = (/** @type {number[]} */ ...numbers) => startBalancer(numbers.map((number) => workerAt(number)));
  fronts = await Promise.all([order(1, 3), order(1, 2), order(2, 4), order(4, 2)]);
});
after(async () => {
  await Promise.all(fronts.map((front) => front.close()));
  await Promise.all(workers.map((worker) => worker.end()));
  await redis?.close();
});

/** Counted from 1. @param {number} number */
const workerAt = (number) => /** @type {Worker} */ (workers[number - 1]);

test(`${total} calls and their cancels, while workers and Redis are killed in turn`, { timeout: 240_000 }, async (t) => {
  const [front, ...agentFronts] = /** @type {[Front, ...Front[]]} */ (fronts);
  const app = await startStormApp(front);
  t.after(() => app.close());
  const callers = agentFronts.map(keepConnected);
  t.after(() => Promise.all(callers.map((caller) => caller.close())));
  const operator = operatorOf(workerAt(3));

  /** @type {import('../support/storm/caller.mjs').Outcome[]} */
  const outcomes = [];
  /** Calls that are not settled. @type {Set<string>} */
  const pending = new Set();
  t.signal.addEventListener('abort', () => pending.size > 0 && t.diagnostic(`${outcomes.length} settled; not: ${[...pending].slice(0, 20).join(' ')}`));
  /** @type {{ at: number, reached: () => void }[]} */
  const watchers = [];
  let last = 0;
  /** @param {ReturnType<typeof keepConnected>} caller @param {number} seed */
  const runner = async (caller, seed) => {
    const random = dice(seed);
    while (last < total) {
      const callId = `storm-${(last += 1)}`;
      pending.add(callId);
      outcomes.push(await callAndCancel(callId, await caller.agent(), operator, random, app.confirm));
      pending.delete(callId);
      for (const { at, reached } of watchers) if (outcomes.length >= at) reached();
    }
  };
  /** @param {number} at */
  const settled = (at) => new Promise((/** @type {(value: void) => void} */ reached) => {
    watchers.push({ at, reached });
    if (outcomes.length >= at) reached();
  });
  const runners = callers.flatMap((caller, index) => Array.from({ length: width }, (_, nth) => runner(caller, 1 + index * width + nth)));

  /** @type {(() => Promise<void>)[]} */
  const blows = [2, 'redis', 3, 'redis', 'app', 'redis', 4, 3, 'app', 'redis'].map((victim, index) => async () => {
    if (victim === 'redis') {
      await redis.kill();
      await redis.restart();
      return;
    }
    const worker = victim === 'app' ? /** @type {Worker} */ (front.latest) : workerAt(Number(victim));
    await worker.end();
    // Every second time the others have noticed before it is back.
    if (index % 2) await Promise.all(callers.map(async (caller) => (await caller.agent()).call('storm.work', { ms: 0 })));
    await worker.restart();
  });
  for (const [index, blow] of blows.entries()) {
    await settled(Math.floor((total * (index + 1)) / (blows.length + 2)));
    await blow();
  }
  await Promise.all(runners);

  const ends = outcomes.map(({ response }) => endOf(response));
  const count = (/** @type {string} */ end) => ends.filter((it) => it === end).length;
  const confirmations = outcomes.flatMap(({ told }) => told).filter(({ by, cancelled }) => by.startsWith('operator') && cancelled === true);
  t.diagnostic(`completed ${count('completed')}, cancelled ${count('cancelled')}, unknown ${count('unknown')}; by operators ${confirmations.length}`);
  assert.equal(outcomes.length, total);
  assert.deepEqual(outcomes.flatMap((outcome) => contradictions(outcome, app.states.get(outcome.callId))), []);
  assert.deepEqual(app.wrong, []);
  assert.ok(count('completed') > total / 5, 'many have completed');
  assert.ok(count('cancelled') > total / 5, 'many were cancelled');
  assert.ok(count('unknown') <= blows.length * callers.length * width, 'no more than a blow could hit');
  assert.ok(confirmations.length > total / 50, 'operators have cancelled across workers');

  await nothingIsLost(outcomes, app.states);
  assert.equal(app.stats().inFlight, 0);
});

/**
 * Every run is known on every worker, and has ended as its caller was told, or it is said that
 * nobody knows how.
 *
 * @param {import('../support/storm/caller.mjs').Outcome[]} outcomes
 * @param {Map<string, string>} states in the app
 */
async function nothingIsLost(outcomes, states) {
  const operators = workers.map(operatorOf);
  let left = outcomes.filter(({ response, callId }) => endOf(response) !== 'unknown' || states.has(callId));
  const final = ['completed', 'cancelled', 'failed', 'unknown'];
  /** @type {any[]} */
  let wrong = [];
  const until = performance.now() + 15_000;
  do {
    wrong = [];
    const queue = left.entries();
    await Promise.all(Array.from({ length: 50 }, async () => {
      for (const [index, outcome] of queue) {
        const answer = await /** @type {any} */ (operators[index % operators.length]).status(outcome.callId);
        const end = endOf(outcome.response);
        const { state } = answer?.json ?? {};
        const agrees = answer?.status === 200 && final.includes(state) && (end === 'unknown' || [end, 'unknown'].includes(state));
        if (!agrees) wrong.push({ outcome, status: answer });
      }
    }));
    left = wrong.map(({ outcome }) => outcome);
  } while (wrong.length > 0 && performance.now() < until);
  assert.deepEqual(wrong.slice(0, 5), [], `${wrong.length} runs are lost or told wrongly`);
}
