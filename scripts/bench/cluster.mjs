import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createHost } from 'caphost';
import { WebSocket } from 'ws';
import { launchPuppeteer } from '../../tests/e2e/support/browsers.mjs';
import { startRedis } from '../../tests/e2e/support/redis.mjs';
import { serveFiles } from '../../tests/e2e/support/static-server.mjs';
import { agentOf, startWorkers } from '../../tests/e2e/support/workers.mjs';
import { gatewayRelease } from '../paths.mjs';
import { setUpPage } from './transports-page.mjs';
import { perCall } from './rounds.mjs';
import { perCancel } from './transports.mjs';

const params = { value: 1 };
/** The number of calls over which the work of Redis is measured. */
const counted = 2000;
/** The number of calls in flight at once, in measurements with more than one. */
const together = 64;
/** The number of connections whose memory is measured. */
const connections = 300;

/**
 * Calls from one worker to an app on another, next to calls to an app on the same worker.
 *
 * @returns {Promise<{ rows: import('./rounds.mjs').Row[], costs: () => Promise<string>, close: () => Promise<void> }>}
 */
export async function cluster() {
  const server = await serveFiles({ pages: { '/bench': '<!doctype html><title>Benchmark</title><link rel="icon" href="data:,">' } });
  const redis = await startRedis();
  const [here, elsewhere] = await startWorkers(redis, 2, ['--allow-origin', server.origin, '--max-apps-per-token', `${2 * connections}`], gatewayRelease);
  if (!here || !elsewhere) throw new Error('two workers were expected to start');
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
        '| a call | commands of Redis | bytes to Redis | bytes from Redis | its processor time |',
        '|---|--:|--:|--:|--:|',
        await cost(redis, 'agent and app on one worker, one call after the other', near, 1),
        await cost(redis, 'on two workers, one call after the other', far, 1),
        await cost(redis, `on two workers, ${together} in flight`, far, together),
      ];
      const agents = await memory(here, () => connectAgent(here));
      const apps = await memory(elsewhere, (at) => connectApp(elsewhere, at));
      const idle = await idleCost(redis);
      return [
        ...lines,
        '',
        `With nothing to do, two workers cost Redis ${idle.commands.toFixed(1)} commands and ${(idle.cpu / 1000).toFixed(1)} ms of processor time per second.`,
        `A connection takes ${kilobytes(agents)} of a worker's memory as an agent's, ${kilobytes(apps)} as an app's, with nothing in flight.`,
      ].join('\n');
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
 * What a call costs Redis, without the cost of an idle cluster.
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
  // The same time without calls.
  await pause(elapsed);
  const idle = await done(redis);
  const [commands = NaN, received = NaN, sent = NaN, cpu = NaN] = after.map((value, at) => (2 * value - (before[at] ?? 0) - (idle[at] ?? 0)) / counted);
  return `| ${name} | ${commands.toFixed(1)} | ${Math.round(received)} | ${Math.round(sent)} | ${Math.round(cpu)} µs |`;
}

/** What Redis does per second when nobody calls. @param {import('../../tests/e2e/support/redis.mjs').Redis} redis */
async function idleCost(redis) {
  const seconds = 5;
  const before = await done(redis);
  await pause(seconds * 1000);
  const after = await done(redis);
  const [commands = NaN, , , cpu = NaN] = after.map((value, at) => (value - (before[at] ?? 0)) / seconds);
  return { commands, cpu };
}

/**
 * Bytes of resident memory that a connection takes.
 *
 * @param {import('../../tests/e2e/support/workers.mjs').Worker} worker
 * @param {(at: number) => Promise<() => unknown>} connect opens a connection, and returns the function that closes it
 */
async function memory(worker, connect) {
  const before = resident(worker.pid);
  const ends = [];
  for (let at = 0; at < connections; at += 1) ends.push(await connect(at));
  const after = resident(worker.pid);
  for (const end of ends) await end();
  return (after - before) / connections;
}

/** @param {import('../../tests/e2e/support/workers.mjs').Worker} worker */
async function connectAgent(worker) {
  const agent = await agentOf(worker, 'bench');
  return () => agent.shutdown();
}

/** @param {import('../../tests/e2e/support/workers.mjs').Worker} worker @param {number} at */
async function connectApp(worker, at) {
  const host = await createHost({ app: { id: `idle-${at}`, name: 'Idle', version: '1' } });
  const connected = new Promise((resolve) => {
    host.observe((event) => event.type === 'gateway' && event.state === 'connected' && resolve(undefined));
  });
  host.connectGateway(`${worker.wsUrl}/abp/app`, { WebSocket });
  await connected;
  return () => host.close();
}

/** The resident memory of a process in bytes, where the system reports it. @param {number} pid */
function resident(pid) {
  const file = `/proc/${pid}/status`;
  const status = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1]) * 1024;
}

/** @param {number} bytes */
const kilobytes = (bytes) => `${(bytes / 1024).toFixed(1)} kB`;

/** The commands done, bytes received and sent, and microseconds of processor time since Redis started. @param {import('../../tests/e2e/support/redis.mjs').Redis} redis */
async function done(redis) {
  const info = await redis.command('INFO', 'all');
  const field = (/** @type {string} */ name) => {
    const value = new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1];
    if (value === undefined) throw new Error(`Redis does not report ${name}`);
    return Number(value);
  };
  const cpu = (field('used_cpu_sys') + field('used_cpu_user')) * 1e6;
  return [field('total_commands_processed'), field('total_net_input_bytes'), field('total_net_output_bytes'), cpu];
}
