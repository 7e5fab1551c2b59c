import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useDemo } from '../support/demo.mjs';
import { becomes, choose, newCall } from '../support/demo-page.mjs';
import { click, reads } from '../support/hands.mjs';

const demo = useDemo();

/** The presets of the section, by the values of their buttons. */
const ways = ['Loop', 'Expression', 'Hash', 'Memory'];

/** The least share of the frames of an idle page that the demo must paint in the same time. */
const SHARE = 0.8;

/** Starts counting the frames that a page paints, and the longest time without a frame. @param {import('puppeteer-core').Page} page */
const countFrames = (page) => page.evaluate(() => {
  const seen = { count: 0, longest: 0, last: performance.now() };
  const frame = () => {
    if (seen !== /** @type {any} */ (globalThis).seenFrames) return;
    const now = performance.now();
    seen.longest = Math.max(seen.longest, now - seen.last);
    seen.last = now;
    seen.count += 1;
    requestAnimationFrame(frame);
  };
  Object.assign(globalThis, { seenFrames: seen });
  requestAnimationFrame(frame);
});

/** Stops counting and returns the counts. @param {import('puppeteer-core').Page} page @returns {Promise<{ count: number, longest: number }>} */
const countedFrames = (page) => page.evaluate(() => {
  const { seenFrames } = /** @type {any} */ (globalThis);
  Object.assign(globalThis, { seenFrames: undefined });
  return seenFrames;
});

/**
 * Runs a call that does not stop by itself, cancels it by hand, and counts frames meanwhile.
 *
 * @param {string} way
 * @param {import('puppeteer-core').Page} idle
 */
async function endByHand(way, idle) {
  const { page } = demo;
  const form = await choose(page, 'stop.never', way);
  const card = await newCall(page, () => click(page, `${form} .primary`));
  await becomes(page, card, 'running');
  await page.waitForFunction((selector) => document.querySelector(selector)?.textContent?.includes('not listening'), {}, card);
  await Promise.all([countFrames(page), countFrames(idle)]);
  await click(page, `${card} .cancel`);
  await becomes(page, card, 'cancelled');
  const [ours, others] = await Promise.all([countedFrames(page), countedFrames(idle)]);
  await reads(page, card, /"stop": ?"terminated"/);
  await reads(page, card, /The work was ended, and its end was proven\. It did not listen, so its worker was terminated\. Proof: .*lock.* It took/s);
  await page.waitForSelector(`${card} .verdict[data-agree=true]`);
  return { ours, others };
}

test('a call that is cancelled below its form shows Cancelling there and on its card, until its end is proven', { timeout: 60_000 }, async () => {
  const { page } = demo;
  const form = await choose(page, 'stop.never', 'Loop');
  const card = await newCall(page, () => click(page, `${form} .primary`));
  await becomes(page, card, 'running');
  await page.waitForFunction((selector) => document.querySelector(selector)?.textContent?.includes('not listening'), {}, card);
  // States that last only for a moment are recorded as they appear.
  await page.evaluate((selectors) => {
    const seen = /** @type {string[]} */ ([]);
    Object.assign(globalThis, { seenStates: seen });
    const [latest, shown] = selectors.map((it) => /** @type {HTMLElement} */ (document.querySelector(it)));
    new MutationObserver(() => seen.push(`${latest?.textContent} | ${shown?.textContent}`)).observe(document.body, { subtree: true, childList: true, characterData: true });
  }, [`${form} .latest`, `${card} .call-head`]);
  await click(page, `${form} .latest button`);
  await becomes(page, card, 'cancelled');
  const seen = await page.evaluate(() => /** @type {{ seenStates: string[] }} */ (/** @type {any} */ (globalThis)).seenStates);
  assert.ok(seen.some((it) => /^Cancelling.*Cancelling….*\| .*Cancelling.*Cancelling…/s.test(it)), seen.slice(0, 5).join('\n'));
});

for (const way of ways) {
  test(`${way} is cancelled by hand, the page paints like an idle page, and the card says how the call stopped, with the proof`, { timeout: 60_000 }, async (t) => {
    assert.equal(await demo.page.evaluate(() => crossOriginIsolated), true);
    const idle = await demo.openIdle();
    let share = 0;
    // Other load on the machine may disturb one of the two pages, but not in every attempt.
    for (let attempt = 0; attempt < 4 && share < SHARE; attempt += 1) {
      const { ours, others } = await endByHand(way, idle);
      share = ours.count / others.count;
      const said = ({ count, longest } = ours) => `${count} frames, none for ${Math.round(longest)} ms at most`;
      t.diagnostic(`the demo: ${said(ours)}; an idle page beside it: ${said(others)}`);
    }
    await idle.close();
    assert.ok(share >= SHARE, `${share} of the frames of an idle page`);
  });
}

test('a cancel through the gateway ends it, too, and the next call works', { timeout: 60_000 }, async () => {
  const running = new Promise((resolve) => {
    void demo.agent.call('stop.never', { way: 'loop' }, { callId: 'far', onProgress: resolve });
  });
  await running;
  const cancel = await demo.agent.cancel('far');
  const { took, ...metadata } = /** @type {any} */ (cancel.metadata);
  assert.deepEqual([cancel.cancelled, metadata], [true, { stop: 'terminated', step: 'terminate' }]);
  assert.ok(took >= 50, `${took}`);
  assert.equal((await demo.agent.call('ai.summarize', { text: 'One. Two.' })).success, true);
});
