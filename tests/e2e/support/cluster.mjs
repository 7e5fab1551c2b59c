import { after, before } from 'node:test';
import { inLab, useLab } from './lab.mjs';
import { startRedis } from './redis.mjs';
import { agentOf, startWorkers } from './workers.mjs';

/**
 * A Redis, workers on it and a browser, for the tests of one file.
 *
 * @param {object} [options]
 * @param {number} [options.workers]
 * @param {string[]} [options.args] of each worker
 * @param {boolean} [options.durable] whether the data of Redis survive a kill
 */
export function useCluster({ workers: count = 2, args = [], durable = false } = {}) {
  const lab = useLab();
  /** @type {import('./redis.mjs').Redis} */
  let redis;
  /** @type {import('./workers.mjs').Worker[]} */
  let workers = [];
  /** @type {(value?: unknown) => void} */
  let begin = () => {};
  /** Hooks of a file's top level do not wait for each other. */
  const begun = new Promise((resolve) => (begin = resolve));
  before(async () => {
    [redis] = await Promise.all([startRedis({ durable }), lab.begun]);
    workers = await startWorkers(redis, count, ['--allow-origin', lab.server.origin, ...args]);
    begin();
  });
  after(async () => {
    redis?.goOn();
    await Promise.all(workers.map((worker) => worker.end()));
    await redis?.close();
  });
  const worker = (/** @type {number} */ number) => {
    const found = workers[number - 1];
    if (found === undefined) throw new Error(`there is no worker ${number}`);
    return found;
  };
  return {
    begun,
    lab,
    get redis() {
      return redis;
    },
    get workers() {
      return workers;
    },
    /** A worker by its number, from 1. */
    worker,
    /**
     * Opens a page of the lab whose app is registered with a worker, or with a load balancer.
     *
     * @param {{ wsUrl: string }} at
     * @param {string} [id]
     * @param {string} [token]
     */
    async appPage(at, id = 'lab', token = undefined) {
      const page = await lab.page();
      await inLab(page, async ({ newHost, join }, url, id, token) => {
        const host = await newHost({ app: { id, name: id, version: '1' } });
        Object.assign(globalThis, { host });
        await join(host, url, { token });
      }, `${at.wsUrl}/abp/app`, id, token);
      return page;
    },
    /** Connects an agent to a worker. @param {number} number @param {string} [app] @param {import('caphost/agent').WebSocketOptions} [options] */
    agent: (number, app = 'lab', options = {}) => agentOf(worker(number), app, options),
  };
}
