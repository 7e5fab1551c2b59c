import { oneByOne, same } from '../sampling.mjs';
import { params, seen } from './handlers.mjs';

/** @typedef {import('../sampling.mjs').Contender} Contender */

/**
 * Anything with the protocol's `call` and `cancel`: `window.abp`, an agent or the sample.
 *
 * @typedef {{ call: (name: string, params?: any, options?: any) => Promise<any>, cancel: (callId: string) => Promise<any> }} Caller
 */

let serial = 0;
export const newCallId = () => `call-${(serial += 1)}`;

/** @param {string} name @param {Caller} caller @param {string} [capability] @returns {Contender} */
export function calls(name, caller, capability = 'echo') {
  return {
    name,
    measure: oneByOne(() => caller.call(capability, params)),
    check: () => checkCall(caller, capability),
  };
}

/** Calls with every option. @param {string} name @param {Caller} caller @returns {Contender} */
export function fullCalls(name, caller) {
  const { signal } = new AbortController();
  const work = () => caller.call('attentive', params, { callId: newCallId(), signal, timeout: 60_000 });
  return {
    name,
    measure: oneByOne(work),
    async check() {
      const { success, data } = await work();
      same({ success, data }, { success: true, data: params }, 'the answer');
      const controller = new AbortController();
      const held = caller.call('hold', {}, { callId: newCallId(), signal: controller.signal, timeout: 60_000 });
      await caller.call('echo', params);
      controller.abort();
      same((await held).cancelled, true, 'what an abort makes of its call');
    },
  };
}

/**
 * The time of a cancel, until it is confirmed and its call is answered. The calls run already when the clock starts.
 *
 * @param {string} name
 * @param {Caller} caller
 * @returns {Contender}
 */
export function cancels(name, caller) {
  return {
    name,
    most: 64,
    async measure(count) {
      const held = await hold(caller, count);
      const start = performance.now();
      for (const { callId, answer } of held) await stop(caller, callId, answer);
      return performance.now() - start;
    },
    async check() {
      const before = seen.stopped;
      const [held] = await hold(caller, 1);
      if (held) await stop(caller, held.callId, held.answer);
      same(seen.stopped - before, 1, 'handlers stopped');
    },
  };
}

/** @param {Caller} caller @param {number} count @returns {Promise<{ callId: string, answer: Promise<any> }[]>} calls whose handlers run */
export async function hold(caller, count, capability = 'hold') {
  const held = Array.from({ length: count }, () => {
    const callId = newCallId();
    return { callId, answer: caller.call(capability, {}, { callId }) };
  });
  // The echo is answered after all calls have started.
  await caller.call('echo', params);
  return held;
}

/** @param {Caller} caller @param {string} callId @param {Promise<any>} answer */
export async function stop(caller, callId, answer) {
  const { cancelled } = await caller.cancel(callId);
  if (!cancelled || !(await answer).cancelled) throw new Error('a cancel was not confirmed');
}

/** @param {Caller} caller @param {string} capability */
async function checkCall(caller, capability) {
  const { success, data } = await caller.call(capability, params);
  same({ success, data }, { success: true, data: params }, 'the answer');
  same((await caller.call('no-such-thing', params)).success, false, 'a call of what is not there');
}
