import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useDemo } from '../support/demo.mjs';
import { becomes, choose, newCall, reaches, textOf } from '../support/demo-page.mjs';

const demo = useDemo();

/** Capabilities, and what their result shows. @type {Record<string, string>} */
const results = {
  'convert.markdownToHtml': 'iframe[sandbox=""]',
  'export.pdf': 'a[download$=".pdf"]',
  'ai.summarize': 'ol.summary li',
  'image.process': 'img.picture[src^="blob:"]',
  'export.archive': 'a[download$=".zip"]',
};

for (const [name, shown] of Object.entries(results)) {
  test(`${name}: pick Small, press Call, see Completed and the result`, { timeout: 120_000 }, async () => {
    const { page } = demo;
    const form = await choose(page, name, 'Small');
    const card = await newCall(page, () => page.click(`${form} .primary`));
    await becomes(page, card, 'completed');
    assert.match(await textOf(page, `${card} .call-state`), /^completed$/i);
    await page.waitForSelector(`${card} .result ${shown}`, { visible: true });
    assert.equal(await page.$eval(`${card} .outcome`, (it) => /** @type {HTMLElement} */ (it).hidden), true);
    assert.match(await textOf(page, `${form} .latest-text`), /^Completed in /);
  });

  test(`${name}: pick Large, press Cancel on its card, see Cancelled and that both answers agree`, { timeout: 120_000 }, async () => {
    const { page } = demo;
    const form = await choose(page, name, 'Large');
    const card = await newCall(page, () => page.click(`${form} .primary`));
    await becomes(page, card, 'running');
    await page.click(`${card} .cancel`);
    await becomes(page, card, 'cancelled');
    await page.waitForSelector(`${card} .verdict[data-agree=true]`, { visible: true });
    const outcome = await textOf(page, `${card} .outcome`);
    assert.match(outcome, /Confirmation and response agree/);
    assert.match(outcome, /"cancelled": true[^]*"success": false, "cancelled": true/);
    assert.equal(await page.$(`${card} .result`), null);
    // Asked once more, it says the same.
    await page.click(`${card} .cancel`);
    await page.waitForFunction((selector) => document.querySelector(`${selector} .pane code`)?.textContent?.split('\n').length === 2, {}, card);
    assert.match(await textOf(page, `${card} .verdict`), /agree$/);
  });
}

test('"Call, cancel halfway" stops at half of its progress', { timeout: 120_000 }, async () => {
  const { page } = demo;
  const form = await choose(page, 'export.archive', 'Large');
  const card = await newCall(page, () => page.click(`${form} button[value=halfway]`));
  await becomes(page, card, 'cancelled');
  const percent = Number(/(\d+) %/.exec(await textOf(page, `${card} .call-progress`))?.[1]);
  assert.ok(percent >= 50 && percent < 90, `${percent} %`);
});

test('cancelling a call that has completed says so, and changes nothing', async () => {
  const { page } = demo;
  const form = await choose(page, 'ai.summarize', 'Small');
  const card = await newCall(page, () => page.click(`${form} .primary`));
  await becomes(page, card, 'completed');
  await page.click(`${card} .cancel`);
  await page.waitForSelector(`${card} .verdict[data-agree=true]`, { visible: true });
  assert.match(await textOf(page, `${card} .outcome`), /"cancelled": false, "reason": "Operation already completed"/);
  await becomes(page, card, 'completed');
});

test('Esc cancels the call in focus, and the latest of the form in focus', { timeout: 120_000 }, async () => {
  const { page } = demo;
  const form = await choose(page, 'export.archive', 'Large');
  const first = await newCall(page, () => page.click(`${form} .primary`));
  await becomes(page, first, 'running');
  const second = await newCall(page, () => page.click(`${form} .primary`));
  await becomes(page, second, 'running');
  await page.focus(first);
  await page.keyboard.press('Escape');
  await becomes(page, first, 'cancelled');
  await becomes(page, second, 'running');
  await page.focus(`${form} .primary`);
  await page.keyboard.press('Escape');
  await becomes(page, second, 'cancelled');
});

test('a call of a remote agent is on the timeline, and is cancelled there', { timeout: 120_000 }, async () => {
  const { page } = demo;
  const remote = await demo.connect('remote reviewer');
  const call = remote.call('export.archive', { megabytes: 400 }, { callId: 'remote-1', onProgress: () => {} });
  const card = '.call[data-call-id="remote-1"]:not([data-own])';
  await becomes(page, card, 'running');
  assert.match(await textOf(page, `${card} .call-origin`), /remote reviewer/);
  assert.match(await textOf(page, '#agents'), /remote reviewer/);
  await reaches(page, card, 2);
  await page.click(`${card} .cancel`);
  const { metadata, ...response } = await call;
  assert.deepEqual(response, { success: false, cancelled: true });
  assert.equal(metadata?.stop, 'dropped');
  await becomes(page, card, 'cancelled');
  await page.waitForSelector(`${card} .verdict[data-agree=true]`, { visible: true });
  assert.deepEqual(await remote.cancel('remote-1'), { callId: 'remote-1', cancelled: true, metadata });
  await remote.shutdown();
  await page.waitForFunction(() => !document.querySelector('#agents')?.textContent?.includes('remote reviewer'));
});

test('when the gateway goes, the page says so and its own calls go on', { timeout: 120_000 }, async () => {
  const { page } = demo;
  await demo.gateway.stop();
  await page.waitForSelector('#gateway[data-state=disconnected], #gateway[data-state=connecting]');
  const form = await choose(page, 'ai.summarize', 'Small');
  const card = await newCall(page, () => page.click(`${form} .primary`));
  await becomes(page, card, 'completed');
});
