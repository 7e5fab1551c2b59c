import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useDemo } from '../support/demo.mjs';
import { becomes, choose, newCall, textOf } from '../support/demo-page.mjs';

const demo = useDemo();

/** The presets of the section, by the values of their buttons. */
const ways = ['Loop', 'Expression', 'Hash', 'Memory'];

for (const way of ways) {
  test(`${way} is ended by hand, the page paints on, and the card says how and by what proof`, { timeout: 60_000 }, async (t) => {
    const { page } = demo;
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    const form = await choose(page, 'stop.never', way);
    const card = await newCall(page, () => page.click(`${form} .primary`));
    await becomes(page, card, 'running');
    await page.waitForFunction((selector) => document.querySelector(selector)?.textContent?.includes('not listening'), {}, card);
    const frames = page.evaluate(() => new Promise((resolve) => {
      let count = 0;
      const end = performance.now() + 1000;
      const frame = () => {
        count += 1;
        if (performance.now() < end) requestAnimationFrame(frame);
        else resolve(count);
      };
      requestAnimationFrame(frame);
    }));
    await page.click(`${card} .cancel`);
    await becomes(page, card, 'cancelled');
    const text = await textOf(page, card);
    assert.match(text, /"stop": ?"terminated"/);
    assert.match(text, /The work was ended, and its end was proven\. It did not listen, so its worker was terminated\. Proof: .*lock.* It took/s);
    await page.waitForSelector(`${card} .verdict[data-agree=true]`);
    // How many there are is also up to what else the machine does.
    assert.ok(Number(await frames) >= 2, `${await frames} frames in a second`);
    t.diagnostic(`${await frames} frames in a second`);
  });
}

test('through the gateway, too, it is ended, and the next call works', { timeout: 60_000 }, async () => {
  const running = new Promise((resolve) => {
    void demo.agent.call('stop.never', { way: 'loop' }, { callId: 'far', onProgress: resolve });
  });
  await running;
  const cancel = await demo.agent.cancel('far');
  assert.deepEqual([cancel.cancelled, cancel.metadata?.stop], [true, 'terminated']);
  assert.equal((await demo.agent.call('ai.summarize', { text: 'One. Two.' })).success, true);
});
