import { oneByOne, same } from '../sampling.mjs';
import { echo, hold, params, seen } from './handlers.mjs';

/** @typedef {import('../sampling.mjs').Contender} Contender */

/** @param {string} name @param {(given: any) => Promise<any>} work @param {string} [note] @returns {Contender} something that answers with what it is given */
export function echoes(name, work, note) {
  return { name, ...(note && { note }), measure: oneByOne(() => work(params)), check: async () => same(await work(params), params, 'the answer') };
}

export const asyncFunction = () => echoes('an async function', echo);

/** Sends a message and waits for the reply. @param {{ postMessage(message: any): void, onmessage: any }} near */
export function postAndWait(near) {
  let resolve = (/** @type {any} */ _) => {};
  near.onmessage = (/** @type {MessageEvent} */ { data }) => resolve(data);
  return (/** @type {any} */ given) => new Promise((settle) => {
    resolve = settle;
    near.postMessage(given);
  });
}

export function rawPort() {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => port1.postMessage(data);
  return echoes('raw MessagePort', postAndWait(port2));
}

/**
 * The least that a call over a port can cost with the short messages of this package: a number and a
 * promise for each call, a name and a callId in its message, the clock at both ends of the handler.
 */
export function shortPort() {
  const { port1: far, port2: near } = new MessageChannel();
  /** @type {Map<number, (answer: any) => void>} */
  const pending = new Map();
  const callId = crypto.randomUUID();
  let last = 0;
  far.onmessage = async ({ data: [, id, , given] }) => {
    const from = performance.now();
    far.postMessage([2, id, await echo(given), performance.now() - from]);
  };
  near.onmessage = ({ data: [, id, data] }) => {
    pending.get(id)?.(data);
    pending.delete(id);
  };
  return echoes('short messages by hand', (given) => new Promise((resolve) => {
    last += 1;
    pending.set(last, resolve);
    near.postMessage([1, last, 'echo', given, callId]);
  }));
}

/** The time from `abort()` of a controller to the end of a handler that listens to its signal. @returns {Contender} */
export function abortWithListener() {
  const start = () => {
    const controller = new AbortController();
    // The wait begins at the start, as for a caller: a rejection that gets its listener late costs
    // extra.
    return { controller, stopped: hold({}, controller).then(() => false, () => true) };
  };
  /** @param {ReturnType<typeof start>} held */
  const stop = async ({ controller, stopped }) => {
    controller.abort();
    if (!await stopped) throw new Error('it was not stopped');
  };
  return {
    name: '`abort()` with a listener',
    most: 64,
    async measure(count) {
      const held = Array.from({ length: count }, start);
      const from = performance.now();
      for (const it of held) await stop(it);
      return performance.now() - from;
    },
    async check() {
      const before = seen.stopped;
      await stop(start());
      same(seen.stopped - before, 1, 'handlers stopped');
    },
  };
}
