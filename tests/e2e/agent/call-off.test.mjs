import assert from 'node:assert/strict';
import { describe, test, before, after } from 'node:test';
import { attach } from 'caphost/automation';
import { automationClients } from '../support/browsers.mjs';
import { plainAppIn } from './pages.mjs';

for (const { name, launch } of automationClients) {
  describe(`an aborted connecting, over ${name}`, () => {
    const { newPage, url, appPage } = plainAppIn({ before, after }, launch);

    /** @param {any} page @param {number} [wait] */
    async function calledOff(page, wait = 200) {
      const controller = new AbortController();
      const connecting = attach(page, { signal: controller.signal });
      await new Promise((resolve) => setTimeout(resolve, wait));
      const began = performance.now();
      controller.abort(new Error('enough'));
      await assert.rejects(connecting, { message: 'enough' });
      assert.ok(performance.now() - began < 1000);
    }

    test('attach to a page whose app never comes, or comes later', async (t) => {
      const page = /** @type {any} */ (await newPage());
      t.after(() => page.close());
      await page.goto(url('/empty'));
      await calledOff(page);
      await page.goto(url('/plain-app/?after=400'));
      await calledOff(page);
      await page.waitForFunction(() => 'abp' in window);
      await new Promise((resolve) => setTimeout(resolve, 200));
      // No unused session is left.
      const agent = await attach(page);
      assert.deepEqual((await agent.call('echo', { a: 1 })).data, { a: 1 });
      await agent.shutdown();
    });

    test('connectWindow to a frame without an app', async (t) => {
      const page = await appPage(t);
      await page.goto(url('/agent/'));
      const seen = await page.evaluate(async () => {
        await /** @type {any} */ (window).ready;
        const { caphost, frameOf } = /** @type {any} */ (window);
        const frame = await frameOf('/empty', true);
        /** @type {unknown[]} */
        const heard = [];
        frame.contentWindow.addEventListener('message', (/** @type {MessageEvent} */ { data }) => heard.push(data.type));
        const controller = new AbortController();
        const connecting = caphost.connectWindow(frame.contentWindow, { signal: controller.signal });
        while (!heard.includes('initialize')) await new Promise((resolve) => setTimeout(resolve, 10));
        controller.abort('enough');
        const reason = await connecting.catch((/** @type {unknown} */ it) => it);
        while (heard.at(-1) !== 'shutdown') await new Promise((resolve) => setTimeout(resolve, 10));
        const before = heard.length;
        await new Promise((resolve) => setTimeout(resolve, 1500));
        return { reason, asked: heard.includes('initialize'), last: heard.at(-1), later: heard.length - before };
      });
      assert.deepEqual(seen, { reason: 'enough', asked: true, last: 'shutdown', later: 0 });
    });
  });
}
