import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useDemo } from '../support/demo.mjs';
import { becomes, choose, newCall, reaches } from '../support/demo-page.mjs';
import { click, focus, look, press, reads, textOf, until } from '../support/hands.mjs';

const demo = useDemo();

/** The capabilities, and the selector of what their result shows. @type {Record<string, string>} */
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
    const card = await newCall(page, () => click(page, `${form} .primary`));
    await becomes(page, card, 'completed');
    await reads(page, `${card} .call-state`, /^completed$/i);
    await page.waitForSelector(`${card} .result ${shown}`, { visible: true });
    await until(page, `${card} .outcome`, (it) => it.hidden);
    await reads(page, `${form} .latest-text`, /^Completed in /);
  });

  test(`${name}: pick Large, press Cancel on its card, see Cancelled and that both answers agree`, { timeout: 120_000 }, async () => {
    const { page } = demo;
    const form = await choose(page, name, 'Large');
    const card = await newCall(page, () => click(page, `${form} .primary`));
    await becomes(page, card, 'running');
    await click(page, `${card} .cancel`);
    await becomes(page, card, 'cancelled');
    await page.waitForSelector(`${card} .verdict[data-agree=true]`, { visible: true });
    await reads(page, `${card} .outcome`, /Confirmation and response agree/);
    await reads(page, `${card} .outcome`, /"cancelled": true[^]*"success": false, "cancelled": true/);
    assert.equal(await page.$(`${card} .result`), null);
    // A second cancel gets the same answer.
    await click(page, `${card} .cancel`);
    await page.waitForFunction((selector) => document.querySelector(`${selector} .pane code`)?.textContent?.split('\n').length === 2, {}, card);
    await reads(page, `${card} .verdict`, /agree$/);
  });
}

test('"Call, cancel halfway" stops at half of its progress', { timeout: 120_000 }, async () => {
  const { page } = demo;
  const form = await choose(page, 'export.archive', 'Large');
  const card = await newCall(page, () => click(page, `${form} button[value=halfway]`));
  await becomes(page, card, 'cancelled');
  const percent = Number(/(\d+) %/.exec(await textOf(page, `${card} .call-progress`))?.[1]);
  assert.ok(percent >= 50 && percent < 90, `${percent} %`);
});

test('cancelling a call that has completed says so, and changes nothing', async () => {
  const { page } = demo;
  const form = await choose(page, 'ai.summarize', 'Small');
  const card = await newCall(page, () => click(page, `${form} .primary`));
  await becomes(page, card, 'completed');
  await click(page, `${card} .cancel`);
  await page.waitForSelector(`${card} .verdict[data-agree=true]`, { visible: true });
  await reads(page, `${card} .outcome`, /"cancelled": false, "reason": "Operation already completed"/);
  await becomes(page, card, 'completed');
});

test('on a touch screen Cancel anyway is below the row of an ended call, and its answer says that it came too late', { timeout: 60_000 }, async () => {
  const page = await demo.open({ width: 380, height: 800, isMobile: true, hasTouch: true });
  assert.equal(await page.evaluate(() => matchMedia('(hover: none)').matches), true);
  const form = await choose(page, 'convert.markdownToHtml', 'Small');
  const card = await newCall(page, () => click(page, `${form} .primary`));
  await becomes(page, card, 'completed');
  await until(page, `${card} .cancel`, (it) => getComputedStyle(it).opacity === '1');
  const { button, time, row } = await look(page, card, (it) => {
    const [button, time, row] = ['.cancel', '.call-time', '.call-head'].map((part) => it.querySelector(part).getBoundingClientRect().toJSON());
    return { button, time, row };
  });
  assert.ok(button.top >= row.bottom - 1 && button.right <= row.right + 1, JSON.stringify({ button, row }));
  assert.ok(time.bottom <= row.bottom + 1, JSON.stringify({ time, row }));
  await click(page, `${card} .cancel`);
  await reads(page, `${card} .outcome`, /"cancelled": false, "reason": "Operation already completed"/);
  await page.close();
});

test('Esc cancels the call in focus, and the latest of the form in focus', { timeout: 120_000 }, async () => {
  const { page } = demo;
  const form = await choose(page, 'export.archive', 'Large');
  const first = await newCall(page, () => click(page, `${form} .primary`));
  await becomes(page, first, 'running');
  const second = await newCall(page, () => click(page, `${form} .primary`));
  await becomes(page, second, 'running');
  await focus(page, first);
  await press(page, first, 'Escape');
  await becomes(page, first, 'cancelled');
  await becomes(page, second, 'running');
  await focus(page, `${form} .primary`);
  await press(page, `${form} .primary`, 'Escape');
  await becomes(page, second, 'cancelled');
});

test('a call of a remote agent is on the timeline, and is cancelled there', { timeout: 120_000 }, async () => {
  const { page } = demo;
  const remote = await demo.connect('remote reviewer');
  const call = remote.call('export.archive', { megabytes: 400 }, { callId: 'remote-1', onProgress: () => {} });
  const card = '.call[data-call-id="remote-1"]:not([data-own])';
  await becomes(page, card, 'running');
  await reads(page, `${card} .call-origin`, /remote reviewer/);
  await reads(page, '#agents', /remote reviewer/);
  await reaches(page, card, 2);
  await click(page, `${card} .cancel`);
  const { metadata, ...response } = await call;
  assert.deepEqual(response, { success: false, cancelled: true });
  assert.equal(metadata?.stop, 'dropped');
  await becomes(page, card, 'cancelled');
  await page.waitForSelector(`${card} .verdict[data-agree=true]`, { visible: true });
  assert.deepEqual(await remote.cancel('remote-1'), { callId: 'remote-1', cancelled: true, metadata });
  await remote.shutdown();
  await page.waitForFunction(() => !document.querySelector('#agents')?.textContent?.includes('remote reviewer'));
});

test('when the gateway goes away, the page says so and its own calls continue', { timeout: 120_000 }, async () => {
  const { page } = demo;
  await demo.gateway.stop();
  await page.waitForSelector('#gateway[data-state=disconnected], #gateway[data-state=connecting]');
  const form = await choose(page, 'ai.summarize', 'Small');
  const card = await newCall(page, () => click(page, `${form} .primary`));
  await becomes(page, card, 'completed');
});
