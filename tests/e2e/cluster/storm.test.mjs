import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ask } from '../gateway-runs/asking.mjs';
import { startBalancer } from '../support/balancer.mjs';
import { startRedis } from '../support/redis.mjs';
import { startStormApp } from '../support/storm/app.mjs';
import { cancelByOperator, keepConnected } from '../support/storm/caller.mjs';
import { callEach } from '../support/storm/calls.mjs';
import { operatorOf } from '../support/storm/operator.mjs';
import { contradictions, endOf, lostOrUntrue } from '../support/storm/verdict.mjs';
import { startWorkers } from '../support/workers.mjs';

/** @typedef {import('../support/workers.mjs').Worker} Worker */
/** @typedef {Awaited<ReturnType<typeof startBalancer<Worker>>>} Front */

const total = process.env.CAPHOST_STORMS === 'full' ? 20_000 : 4_000;
const fewer = Math.ceil(total / 10);
/** How many calls of each agent are in flight. */
const width = 40;

/** @type {import('../support/redis.mjs').Redis} */
let redis;
/** @type {Worker[]} */
let workers = [];
/** The load balancers: one for the app, and one for each agent. The last agent may be on the app's worker. @type {Front[]} */
let fronts = [];

before(async () => {
  redis = await startRedis({ durable: true });
  workers = await startWorkers(redis, 4, ['--max-retained', String(2 * total)]);
  const order = (/** @type {number[]} */ ...numbers) => startBalancer(numbers.map((number) => workerAt(number)));
  fronts = await Promise.all([order(1, 3), order(2, 4), order(4, 2), order(1, 2)]);
});
after(async () => {
  await Promise.all(fronts.map((front) => front.close()));
  await Promise.all(workers.map((worker) => worker.end()));
  await redis?.close();
});

/** A worker by its number, from 1. @param {number} number */
const workerAt = (number) => /** @type {Worker} */ (workers[number - 1]);

/**
 * Makes calls and cancels while the victims fail one after the other.
 *
 * @param {import('node:test').TestContext} t
 * @param {object} options
 * @param {string} options.prefix of the callIds
 * @param {number} options.calls
 * @param {(number | 'app' | 'redis')[]} options.victims the number of a worker, the worker that has the app, or Redis
 * @param {boolean} options.kills whether workers are killed, and their runs are lost with them
 * @param {(victim: Worker | 'redis', index: number, callers: ReturnType<typeof keepConnected>[]) => Promise<void>} options.strike
 */
async function storm(t, { prefix, calls, victims, kills, strike }) {
  const [front, ...agentFronts] = /** @type {[Front, ...Front[]]} */ (fronts);
  const app = await startStormApp(front);
  const callers = agentFronts.map(keepConnected);
  t.after(async () => {
    await Promise.all(callers.map((caller) => caller.close()));
    await app.close();
  });
  const began = performance.now();
  const operator = operatorOf(workerAt(3));
  const { outcomes, settled, all } = callEach({ prefix, calls, width, callers, operator, confirmed: app.confirm });
  /** @type {ReturnType<typeof cancelByOperator>[]} */
  const byOperator = [];
  t.signal.addEventListener('abort', () => outcomes.length < calls && t.diagnostic(`${outcomes.length} have settled`));
  for (const [index, victim] of victims.entries()) {
    await settled(Math.floor((calls * (index + 1)) / (victims.length + 2)));
    const worker = victim === 'app' ? /** @type {Worker} */ (front.latest) : victim;
    await strike(typeof worker === 'number' ? workerAt(worker) : worker, index, callers);
    // An agent that is never on the operator's worker.
    const caller = /** @type {ReturnType<typeof keepConnected>} */ (callers[index % (callers.length - 1)]);
    byOperator.push(cancelByOperator({ prefix: `${prefix}-lasts-${index}`, caller, operator, confirmed: app.confirm }));
  }
  await all;
  const lasting = (await Promise.all(byOperator)).flat();

  const ended = performance.now();
  const ends = outcomes.map(({ response }) => endOf(response));
  const count = (/** @type {string} */ end) => ends.filter((it) => it === end).length;
  const byOperators = [...outcomes, ...lasting].flatMap(({ told }) => told).filter(({ by, cancelled }) => by.startsWith('operator') && cancelled === true).length;
  t.diagnostic(`completed ${count('completed')}, cancelled ${count('cancelled')}, unknown ${count('unknown')}; by operators ${byOperators}`);
  assert.equal(outcomes.length, calls);
  assert.deepEqual([...outcomes, ...lasting].flatMap((outcome) => contradictions(outcome, app.states.get(outcome.callId))), []);
  assert.deepEqual(app.wrong, []);
  assert.ok(count('completed') > calls / 20, 'many have completed');
  assert.ok(count('cancelled') > calls / 20, 'many were cancelled');
  assert.ok(count('unknown') <= victims.length * callers.length * width, 'no more than a blow could hit');
  assert.ok(byOperators >= victims.length, 'operators have cancelled across workers');

  // A call that was refused has no run.
  const registered = outcomes.filter(({ response, callId }) => endOf(response) !== 'unknown' || app.states.has(callId));
  const wrong = await lostOrUntrue(registered, workers.map(operatorOf), kills);
  assert.deepEqual(wrong.slice(0, 5), [], `${wrong.length} runs are lost or told wrongly`);
  assert.equal(app.stats().inFlight, 0);
  const seconds = (/** @type {number} */ ms) => (ms / 1_000).toFixed(1);
  t.diagnostic(`settled in ${seconds(ended - began)} s, looked for in ${seconds(performance.now() - ended)} s`);
}

test(`${total} calls and their cancels, while workers and Redis are killed in turn`, { timeout: 240_000 }, (t) => storm(t, {
  prefix: 'killed',
  calls: total,
  kills: true,
  victims: [2, 'redis', 3, 'redis', 'app', 'redis', 4, 'app', 'redis', 2],
  async strike(victim, index, callers) {
    if (victim === 'redis') {
      await redis.kill();
      await redis.restart();
      for (const worker of workers) while ((await ask(worker, '/readyz')).json.redis !== 'connected') await pause(20);
      return;
    }
    await victim.end();
    // In every second round, the others notice the failure before the worker is back.
    if (index % 2) await Promise.all(callers.map(async (caller) => (await caller.agent()).call('storm.work', { ms: 0 })));
    await victim.restart();
  },
}));

test(`${fewer} calls and their cancels, while workers and Redis hang in turn`, { timeout: 240_000 }, (t) => storm(t, {
  prefix: 'hung',
  calls: fewer,
  kills: false,
  victims: ['app', 2, 'redis', 3, 'app', 4, 'redis'],
  async strike(victim, index) {
    (victim === 'redis' ? redis : victim).hang();
    const others = workers.filter((worker) => worker !== victim);
    // In every second round, the victim hangs only until the others are seen to live.
    const left = index % 2 ? Infinity : victim === 'redis' ? 1 : others.length;
    for (const worker of others) while ((await ask(worker, '/readyz')).json.workers > left) await pause(20);
    (victim === 'redis' ? redis : victim).goOn();
  },
}));
