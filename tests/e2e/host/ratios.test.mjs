/**
 * Ratios between things that run side by side, with tolerance for a busy machine. These tests catch
 * work that begins to grow with the number of calls, or that doubles. The benchmark measures the
 * absolute cost of calls.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useLab } from '../support/lab.mjs';

const lab = useLab();

test('a call in the page costs no more than a few handwritten calls, also among many other calls', { timeout: 120_000 }, async () => {
  const ratios = await lab.run(async ({ newHost, inPage }) => {
    /** The calls of handwritten code. */
    const calls = new Map();
    const byHand = async (/** @type {any} */ params) => {
      const callId = crypto.randomUUID();
      const controller = new AbortController();
      calls.set(callId, controller);
      try {
        return { success: true, data: await (async ({ n }) => n)(params) };
      } finally {
        calls.delete(callId);
      }
    };
    const limits = { maxRequestsPerSecond: Infinity, maxInFlight: Infinity };
    const agents = [];
    for (let at = 0; at < 3; at += 1) {
      const host = await newHost(limits);
      host.register('n', {}, async (/** @type {any} */ { n }) => n);
      host.register('never', {}, () => new Promise(() => {}));
      agents.push({ host, abp: await inPage(host) });
    }
    const [alone, among, crowd] = /** @type {any[]} */ (agents);
    for (let at = 0; at < 50_000; at += 1) among.host.register(`other.${at}`, {}, () => undefined);
    for (let at = 0; at < 50_000; at += 1) void crowd.abp.call('never');
    const contenders = {
      byHand: () => byHand({ n: 1 }),
      alone: () => alone.abp.call('n', { n: 1 }),
      among: () => among.abp.call('n', { n: 1 }),
      crowd: () => crowd.abp.call('n', { n: 1 }),
    };
    /** @type {Record<string, number[]>} */
    const times = {};
    for (let round = 0; round < 15; round += 1) {
      for (const [name, call] of Object.entries(contenders)) {
        const began = performance.now();
        for (let at = 0; at < 500; at += 1) await call();
        (times[name] ??= []).push(performance.now() - began);
      }
    }
    // The fastest of many rounds is the undisturbed one.
    const best = (/** @type {string} */ name) => Math.min(.../** @type {number[]} */ (times[name]));
    return { byHand: best('alone') / best('byHand'), among: best('among') / best('alone'), crowd: best('crowd') / best('alone') };
  });
  // If a call looked at all other calls, the ratio would be about twenty.
  assert.ok(ratios.byHand < 6, `${ratios.byHand} times a call by hand`);
  assert.ok(ratios.among < 6, `${ratios.among} times, among 50 000 capabilities`);
  assert.ok(ratios.crowd < 6, `${ratios.crowd} times, among 50 000 calls in flight`);
});

test('a cancel among many costs no more than a few times the cost of a single cancel', { timeout: 120_000 }, async () => {
  const ratio = await lab.run(async ({ newHost, inPage }) => {
    const host = await newHost({ maxRequestsPerSecond: Infinity, maxInFlight: Infinity });
    host.register('held', {}, (/** @type {any} */ _, /** @type {any} */ { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
    const abp = await inPage(host);
    let made = 0;
    const round = async (/** @type {number} */ count) => {
      const ids = Array.from({ length: count }, () => `c${(made += 1)}`);
      const calls = ids.map((callId) => abp.call('held', {}, { callId, timeout: 60_000 }));
      await new Promise((resolve) => setTimeout(resolve));
      const began = performance.now();
      await Promise.all(ids.map((callId) => abp.cancel(callId)));
      const took = performance.now() - began;
      await Promise.all(calls);
      return took;
    };
    const few = [];
    const many = [];
    for (let at = 0; at < 3; at += 1) {
      // The same number of cancels as in the other measurement, so that other load disturbs both alike.
      let sum = 0;
      for (let part = 0; part < 300; part += 1) sum += await round(100);
      few.push(sum);
      many.push(await round(30_000));
    }
    return Math.min(...many) / Math.min(...few);
  });
  // If each cancel looked at all other calls, the ratio would be about fifteen.
  assert.ok(ratio < 7, `${ratio} times as much for each of 30 000 as for each of 100`);
});
