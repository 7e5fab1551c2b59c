import { oneByOne, same } from '../sampling.mjs';
import { calls } from './abp-calls.mjs';
import { inPage } from './caphost.mjs';
import { echoes } from './floors.mjs';
import { echo, params, seen } from './handlers.mjs';

/** @typedef {import('../sampling.mjs').Contender} Contender */

/**
 * Calls whose handler is written in Rust, next to exports of the same module that do the same work
 * without a host.
 *
 * @param {string} rust the path of the Rust app
 * @returns {Promise<Contender[]>}
 */
export async function rustCalls(rust) {
  Object.assign(globalThis, { record() {}, waitFor: () => new Promise(() => {}) });
  const { default: init, bareEcho, bareTyped, createEcho } = await import(/** @type {any} */ (rust));
  await init();
  const host = createEcho();
  host.register('echo', {}, echo);
  const caller = await inPage(host);
  return [
    echoes('a bare wasm async export', bareEcho),
    echoes('a bare wasm async export with serde', bareTyped),
    calls('caphost', caller, 'rust.echo'),
    calls('caphost, a handler in JavaScript', caller),
  ];
}

/**
 * The cancels of a peer that can cancel.
 *
 * @param {string} name
 * @param {{ call: (given: any) => Promise<any>, hold?: () => { stop: () => Promise<void> } }} connected
 * @returns {Contender}
 */
export function connectedCancels(name, { call, hold }) {
  if (hold === undefined) throw new Error(`${name} has no cancel`);
  const begin = async (/** @type {number} */ count) => {
    const held = Array.from({ length: count }, hold);
    await call(params);
    return held;
  };
  return {
    name,
    most: 64,
    async measure(count) {
      const held = await begin(count);
      return oneByOne(async () => held.pop()?.stop())(count);
    },
    async check() {
      const before = seen.stopped;
      for (const { stop } of await begin(1)) await stop();
      same(seen.stopped - before, 1, 'handlers stopped');
    },
  };
}
