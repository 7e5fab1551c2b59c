import { launchPuppeteer } from '../../tests/e2e/support/browsers.mjs';
import { startRedis } from '../../tests/e2e/support/redis.mjs';
import { serveFiles } from '../../tests/e2e/support/static-server.mjs';
import { agentOf, startWorkers } from '../../tests/e2e/support/workers.mjs';
import { setUpPage } from './page.mjs';
import { perCall } from './rounds.mjs';
import { perCancel } from './transports.mjs';

const params = { value: 1 };
/** Calls over which Redis is asked what it has done. */
const counted = 2000;
/** Of them in flight at once, when more than one is. */
const together = 64;

/**
 * Calls from one worker to an app on another, beside calls to an app on the same.
 *
 * @returns {Promise<{ rows: import('./rounds.mjs').Row[], costs: () => Promise<string>, close: () => Promise<void> }>}
 */
export async function cluster() {
  const server = await serveFiles({ pages: { '/bench': '<!doctype html><title>Benchmark</title><link rel="icon" href="data:,">' } });
  const redis = await startRedis();
  const [here, elsewhere] = await startWorkers(redis, 2, ['--allow-origin', server.origin]);
  if (!here || !elsewhere) throw new Error('two workers were to start');
  const launched = await launchPuppeteer();
  const page = await launched.newPage();
  await page.goto(server.url('/bench'));
  await page.evaluate(setUpPage, `${here.wsUrl}/abp/app`);
  const [near, far] = await Promise.all([agentOf(here, 'bench'), agentOf(elsewhere, 'bench')]);

  const calls = 'a call and its answer: Node to page and back, on Redis';
  const cancels = 'a cancel and its confirmation: Node to page and back, on Redis';
  const same = 'agent and app on one worker';
  const two = 'agent and app on two workers';
  const call = (/** @type {import('caphost/agent').Agent} */ agent) => () => perCall(100, () => agent.call('echo', params));
  /** @type {import('./rounds.mjs').Row[]} */
  const rows = [
    { group: calls, name: same, unit: 'µs', measure: call(near) },
    { group: calls, name: two, base: same, unit: 'µs', measure: call(far) },
    { group: cancels, name: same, unit: 'µs', measure: () => perCancel(near) },
    { group: cancels, name: two, base: same, unit: 'µs', measure: () => perCancel(far) },
  ];
  return {
    rows,
    costs: async () => {
      const lines = [
        '| | commands of Redis | bytes to Redis | bytes from Redis |',
        '|---|--:|--:|--:|',
        await cost(redis, 'agent and app on one worker, one call after the other', near, 1),
        await cost(redis, 'on two workers, one call after the other', far, 1),
        await cost(redis, `on two workers, ${together} in flight`, far, together),
      ];
      return lines.join('\n');
    },
    close: async () => {
      await launched.close();
      await Promise.all([here.end(), elsewhere.end()]);
      await redis.close();
      await server.close();
    },
  };
}

/**
 * What a call costs Redis, without what it costs when nobody calls.
 *
 * @param {import('../../tests/e2e/support/redis.mjs').Redis} redis
 * @param {string} name
 * @param {import('caphost/agent').Agent} agent
 * @param {number} inFlight
 */
async function cost(redis, name, agent, inFlight) {
  const started = performance.now();
  const before = await done(redis);
  let left = counted;
  await Promise.all(Array.from({ length: inFlight }, async () => {
    while ((left -= 1) >= 0) await agent.call('echo', params);
  }));
  const after = await done(redis);
  const elapsed = performance.now() - started;
  // As long with nothing to do.
  await new Promise((resolve) => setTimeout(resolve, elapsed));
  const idle = await done(redis);
  const [commands, received, sent] = after.map((value, at) => (2 * value - (before[at] ?? 0) - (idle[at] ?? 0)) / counted);
  return `| ${name} | ${commands?.toFixed(1)} | ${Math.round(received ?? NaN)} | ${Math.round(sent ?? NaN)} |`;
}

/** Commands done, and bytes received and sent, since Redis started. @param {import('../../tests/e2e/support/redis.mjs').Redis} redis */
async function done(redis) {
  const info = await redis.command('INFO', 'stats');
  return ['total_commands_processed', 'total_net_input_bytes', 'total_net_output_bytes'].map((name) => {
    const value = new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1];
    if (value === undefined) throw new Error(`Redis does not tell ${name}`);
    return Number(value);
  });
}
