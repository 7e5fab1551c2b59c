import { setTimeout as pause } from 'node:timers/promises';
import { connectWebSocket } from 'caphost/agent';
import { startGateway } from './gateway.mjs';

/**
 * @typedef {object} Worker one gateway of a cluster
 * @property {string} name
 * @property {string} url where it is, or was
 * @property {string} wsUrl
 * @property {number} port the same for all its life
 * @property {number} pid of the process it is, or was
 * @property {boolean} alive
 * @property {() => string} log what it wrote since it was last started
 * @property {(signal?: NodeJS.Signals) => Promise<void>} end by SIGKILL, unless told otherwise
 * @property {() => void} hang it lives, and does nothing
 * @property {() => void} goOn
 * @property {() => Promise<void>} restart another process on the same port
 */

/**
 * Starts workers of one cluster, each on a port of its own.
 *
 * @param {{ url: string }} redis
 * @param {number} count
 * @param {string[]} [args] further arguments of `serve`
 * @param {string} [binary] another build of the gateway
 * @returns {Promise<Worker[]>}
 */
export function startWorkers(redis, count, args = [], binary) {
  return Promise.all(Array.from({ length: count }, (_, index) => startWorker(redis, `worker-${index + 1}`, args, binary)));
}

/** @param {{ url: string }} redis @param {string} name @param {string[]} args @param {string} [binary] @returns {Promise<Worker>} */
async function startWorker(redis, name, args, binary) {
  const start = (port = 0) => startGateway({ port, binary, args: ['--redis', redis.url, '--worker-name', name, ...args] });
  let gateway = await start();
  const { url, wsUrl, port } = gateway;
  const worker = {
    name,
    url,
    wsUrl,
    port,
    alive: true,
    get pid() {
      return gateway.pid;
    },
    log: () => gateway.log(),
    hang: () => void process.kill(gateway.pid, 'SIGSTOP'),
    goOn: () => void process.kill(gateway.pid, 'SIGCONT'),
    end: async (/** @type {NodeJS.Signals} */ signal = 'SIGKILL') => {
      worker.alive = false;
      await gateway.stop(signal);
    },
    restart: async () => {
      gateway = await start(port);
      worker.alive = true;
    },
  };
  return worker;
}

/**
 * An agent of a worker, as soon as the app it wants can be called from there.
 *
 * @param {{ wsUrl: string }} worker
 * @param {string} app
 * @param {import('caphost/agent').WebSocketOptions} [options]
 * @param {AbortSignal} [signal] nobody wants it any more
 */
export async function agentOf(worker, app, options = {}, signal = undefined) {
  for (;;) {
    signal?.throwIfAborted();
    try {
      // As long as a test may take: a busy machine keeps nobody from connecting, only later.
      return await connectWebSocket(`${worker.wsUrl}/abp?app=${app}`, { agent: { name: 'test', version: '1' }, connectTimeout: 60_000, ...options });
    } catch (error) {
      if (/** @type {any} */ (error).code !== 'DISCONNECTED') throw error;
    }
    await pause(20);
  }
}
