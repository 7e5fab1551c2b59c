import { setTimeout as pause } from 'node:timers/promises';
import { connectWebSocket } from 'caphost/agent';
import { startGateway } from './gateway.mjs';

/**
 * @typedef {object} Worker one gateway of a cluster
 * @property {string} name
 * @property {string} url its address; it stays the same after a restart
 * @property {string} wsUrl
 * @property {number} port the port, the same after a restart
 * @property {number} pid the id of its latest process
 * @property {boolean} alive
 * @property {() => string} log its output since its last start
 * @property {(signal?: NodeJS.Signals) => Promise<void>} end ends the process, by default with SIGKILL
 * @property {() => void} hang keeps the process alive, but stopped
 * @property {() => void} goOn
 * @property {() => Promise<void>} restart starts another process on the same port
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
 * Connects an agent to a worker as soon as the worker can reach the app.
 *
 * @param {{ wsUrl: string }} worker
 * @param {string} app
 * @param {import('caphost/agent').WebSocketOptions} [options]
 * @param {AbortSignal} [signal] fires when the agent is no longer needed
 */
export async function agentOf(worker, app, options = {}, signal = undefined) {
  for (;;) {
    signal?.throwIfAborted();
    try {
      // The time is that of a whole test, because a busy machine only delays a connection.
      return await connectWebSocket(`${worker.wsUrl}/abp?app=${app}`, { agent: { name: 'test', version: '1' }, connectTimeout: 60_000, ...options });
    } catch (error) {
      if (/** @type {any} */ (error).code !== 'DISCONNECTED') throw error;
    }
    await pause(20);
  }
}
