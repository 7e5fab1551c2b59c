import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis } from '../../tests/e2e/support/redis.mjs';
import { gatewayBinary, gatewayRelease, root } from '../paths.mjs';
import { honest } from './honest.mjs';
import { unreadLog } from './log.mjs';
import { allowed } from './report.mjs';
import { betweenWorkers } from './workers.mjs';

/**
 * @typedef {import('./honest.mjs').Measured} Measured
 *
 * @typedef {object} Figures
 * @property {string[]} names of the attacks
 * @property {Measured} before
 * @property {Measured} during
 * @property {Measured} after
 * @property {{ before: number, peak: number, after: number }} memory of the gateway, in bytes
 * @property {{ before: number, after: number }} descriptors of the gateway
 * @property {number} log bytes that the gateway logged during the attack
 * @property {boolean} cancelled whether a cancel during the attack was confirmed and the handler had stopped
 * @property {boolean} healthy whether /healthz answered every request
 * @property {import('./attackers.mjs').Counts} counts
 */

const secrets = {
  honest: { app: 'an-app-of-the-shop', agent: 'an-honest-agent-of-the-shop' },
  attackers: { app: 'an-app-of-mallory', agent: 'an-agent-of-mallory' },
};

/**
 * Runs these attacks at once while an honest app and agent use the gateway.
 *
 * @param {string[]} names attacks that are possible on this machine
 * @param {{ seconds: number, release?: boolean }} options
 * @returns {Promise<Figures>}
 */
export async function attack(names, { seconds, release = false }) {
  const folder = await mkdtemp(join(tmpdir(), 'caphost-attack-'));
  await writeFile(join(folder, 'large'), Buffer.alloc(16 << 20, 'x'));
  const binary = release ? gatewayRelease : gatewayBinary;
  const redis = names.includes(betweenWorkers) ? await startRedis() : undefined;
  /** @type {Gateway[]} */
  const started = [];
  /** What must end before the gateways, also if the attack fails. @type {(() => unknown)[]} */
  const ends = [];
  try {
    const gateway = await startGateway(binary, folder, redis?.url);
    started.push(gateway);
    const second = redis && await startGateway(binary, folder, redis.url);
    if (second) started.push(second);
    const client = await honest(gateway.url.replace(/^http/, 'ws'), secrets.honest);
    ends.push(() => client.close());
    const calm = Math.max(1, seconds / 6);
    // The first calls compile code, and open files and connections that stay open.
    await client.measure(1);
    const before = await client.measure(calm);
    const memory = { before: await gateway.memory(), peak: 0, after: 0 };
    const descriptors = { before: await gateway.descriptors(), after: 0 };
    const logged = gateway.logged();
    if (names.includes(unreadLog)) gateway.readsLog(false);

    const attackers = fork(new URL('attackers.mjs', import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    ends.push(() => attackers.kill());
    /** @type {import('./attackers.mjs').Order} */
    const order = { port: portOf(gateway), ...(second && { second: portOf(second) }), from: '127.0.0.66', secrets: secrets.attackers, names };
    attackers.send(order);
    const watch = watching(gateway);
    ends.push(() => watch.stop());
    const during = await client.measure(seconds);
    const cancelled = await client.cancel();
    const [said] = await Promise.all([once(attackers, 'message'), attackers.send('stop')]);
    await once(attackers, 'exit');
    const { peak, healthy } = await watch.stop();
    memory.peak = peak;
    gateway.readsLog(true);

    const after = await client.measure(calm);
    // The gateway closes connections that were cut off within their deadlines, and it frees memory
    // gradually.
    for (let wait = 0; wait < 150; wait += 1) {
      descriptors.after = await gateway.descriptors();
      memory.after = await gateway.memory();
      if (descriptors.after <= descriptors.before + allowed.descriptors && memory.after <= memory.before + allowed.kept) break;
      await sleep(100);
    }
    const log = gateway.logged() - logged;
    return { names, before, during, after, memory, descriptors, log, cancelled, healthy, counts: said[0] };
  } finally {
    for (const end of ends.reverse()) await end();
    await Promise.all(started.map((gateway) => gateway.stop()));
    await redis?.close();
    await rm(folder, { recursive: true });
  }
}

/** @param {Gateway} gateway */
const portOf = ({ url }) => Number(new URL(url).port);

/** Checks every 100 ms how much memory is in use, and every second whether the gateway is healthy. @param {Gateway} gateway */
function watching(gateway) {
  let [peak, healthy, going] = [0, true, true];
  const ended = (async () => {
    for (let round = 0; going; round += 1) {
      peak = Math.max(peak, await gateway.memory());
      if (round % 10 === 0) healthy &&= await fetch(`${gateway.url}/healthz`).then((answer) => answer.text().then(() => answer.ok), () => false);
      await sleep(100);
    }
  })();
  return {
    async stop() {
      going = false;
      await ended;
      return { peak, healthy };
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof startGateway>>} Gateway */

/**
 * Starts a gateway with a soft limit of 1 024 open files, which is the default of most systems.
 *
 * @param {string} binary
 * @param {string} www
 * @param {string} [redis] the URL of a Redis that connects the gateway with other workers
 */
async function startGateway(binary, www, redis) {
  const tokens = [
    `app@shop=${secrets.honest.app}`, `agent=${secrets.honest.agent}`,
    `app=${secrets.attackers.app}`, `agent=${secrets.attackers.agent}`,
  ].flatMap((token) => ['--token', token]);
  const args = ['serve', '--port', '0', '--www', www, '--log', 'info', ...(redis ? ['--redis', redis] : []), ...tokens];
  const child = spawn('sh', ['-c', 'ulimit -Sn 1024 && exec "$0" "$@"', binary, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  let logged = 0;
  child.stderr.on('data', (part) => { logged += part.length; });
  const ended = once(child, 'exit');
  const lines = createInterface(child.stdout);
  const ready = once(lines, 'line').then(([line]) => /** @type {string} */ (line));
  const url = /(http:\S+?)\/?$/.exec(await Promise.race([ready, ended.then(() => '')]))?.[1];
  if (!url) throw new Error(`${binary} did not start; \`npm run build:gateway\` builds it`);
  const proc = `/proc/${child.pid}`;
  return {
    url,
    /** How many bytes the gateway has logged. */
    logged: () => logged,
    /** Sets whether somebody reads the gateway's log. @param {boolean} does */
    readsLog: (does) => void (does ? child.stderr.resume() : child.stderr.pause()),
    /** Resident memory in bytes. */
    memory: async () => Number(/VmRSS:\s+(\d+)/.exec(await readFile(`${proc}/status`, 'utf8'))?.[1]) * 1024,
    /** How many files and connections are open. */
    descriptors: async () => (await readdir(`${proc}/fd`)).length,
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(kill, 10_000);
      await ended;
      clearTimeout(late);
      process.off('exit', kill);
    },
  };
}
