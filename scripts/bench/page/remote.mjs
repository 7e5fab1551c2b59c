/* global window */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { WebSocket } from 'ws';
import { startGateway } from '../../../tests/e2e/support/gateway.mjs';
import { gatewayRelease } from '../../paths.mjs';
import { rawSockets } from '../transports.mjs';
import { inTurns, oneByOne, same } from './sampling.mjs';

/**
 * Measures calls from Node: over WebSocket, and through Puppeteer.
 *
 * @typedef {import('./setting.mjs').Bench} Bench
 * @typedef {import('./sampling.mjs').Contender} Contender
 * @typedef {import('./sampling.mjs').Sampling} Sampling
 */

const params = { value: 1 };
const agent = { name: 'bench', version: '1' };

/** @param {string} name @param {() => Promise<any>} work @returns {Contender} */
const echoes = (name, work) => ({ name, measure: oneByOne(work), check: async () => same(await work(), params, 'the answer') });

/** @param {string} name @param {any} caller @returns {Contender} */
const calls = (name, caller) => ({
  name,
  measure: oneByOne(() => caller.call('echo', params)),
  async check() {
    const { success, data } = await caller.call('echo', params);
    same({ success, data }, { success: true, data: params }, 'the answer');
  },
});

/** Runs in the page. @param {string} at @param {string} [gateway] @param {string} [id] */
const serve = async (at, gateway, id) => (await import(/** @type {any} */ ('/bench/in-page/caphost.mjs'))).serve(at, gateway, id);

/** @param {string} folder @param {string} entry @returns {Promise<any>} the build's module for Node */
const forNode = (folder, entry) => import(pathToFileURL(join(folder, `${entry}.node.js`)).href);

/** @param {Bench} bench @param {Sampling} sampling */
export async function overSockets(bench, sampling) {
  if (!existsSync(gatewayRelease)) {
    bench.missing.push('WebSocket through the gateway: `npm run build:gateway` builds it');
    return [];
  }
  const gateway = await startGateway({ binary: gatewayRelease, args: ['--allow-origin', bench.origin] });
  /** @type {(() => unknown)[]} */
  const closers = [() => gateway.stop()];
  try {
    const page = await bench.newPage();
    const sockets = await rawSockets(page);
    closers.push(() => sockets.close(), () => page.close());
    const contenders = [echoes('raw echo through a relay', sockets.relayed), echoes('raw WebSocket, no page', sockets.direct)];
    for (const { name, at, folder } of bench.builds) {
      const own = await bench.newPage();
      closers.push(() => own.close());
      await own.evaluate(serve, at, `${gateway.wsUrl}/abp/app`, name);
      const { connectWebSocket } = await forNode(folder, 'agent');
      const caller = await connectWebSocket(`${gateway.wsUrl}/abp?app=${name}`, { agent, WebSocket });
      closers.push(() => caller.shutdown());
      contenders.push(calls(`${name}, through the gateway`, caller));
    }
    return await inTurns(contenders, sampling);
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

/** @param {Bench} bench @param {Sampling} sampling */
export async function throughPuppeteer(bench, sampling) {
  /** @type {(() => Promise<unknown>)[]} */
  const closers = [];
  try {
    const served = async (/** @type {string} */ at) => {
      const page = await bench.newPage();
      closers.push(() => page.close());
      await page.evaluate(serve, at);
      return page;
    };
    // A page of its own: a debugger is attached to the page of an agent, and slows down its evaluations.
    const plain = await served(String(bench.builds[0]?.at));
    const contenders = [echoes('`page.evaluate` of a function', () => plain.evaluate((given) => /** @type {any} */ (window).echo(given), params))];
    for (const { name, at, folder } of bench.builds) {
      const { attach } = await forNode(folder, 'automation');
      for (const terminate of [true, false]) {
        const caller = await attach(await served(at), { agent, terminate });
        closers.push(() => caller.shutdown());
        contenders.push(calls(`${name}, agent of \`attach\`${terminate ? '' : ', without a debugger'}`, caller));
      }
    }
    return await inTurns(contenders, sampling);
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}
