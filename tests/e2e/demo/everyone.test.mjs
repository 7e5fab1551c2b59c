import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useDemo } from '../support/demo.mjs';
import { becomes, choose, newCall } from '../support/demo-page.mjs';
import { click, until } from '../support/hands.mjs';

const demo = useDemo();
const names = ['convert.markdownToHtml', 'export.pdf', 'ai.summarize', 'image.process', 'export.archive'];

test('the keyboard alone: call, watch, cancel, read', { timeout: 120_000 }, async () => {
  const { page } = demo;
  const press = async (/** @type {import('puppeteer-core').KeyInput[]} */ ...keys) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  /** @param {string} selector presses Tab until it has the focus */
  const tabTo = async (selector) => {
    for (let i = 0; i < 80; i += 1) {
      if (await page.evaluate((it) => document.activeElement?.matches(it) ?? false, selector)) return;
      await press('Tab');
    }
    assert.fail(`Tab does not reach ${selector}`);
  };
  const form = '.capability[data-capability="export.archive"]';
  await tabTo(`${form} > summary`);
  await press('Enter');
  await page.waitForSelector(`${form}[open]`);
  await tabTo(`${form} .presets input`);
  await press('ArrowRight');
  await tabTo(`${form} .primary`);
  const card = await newCall(page, () => press('Enter'));
  await becomes(page, card, 'running');
  await tabTo('.call');
  await tabTo(`${card} .cancel`);
  await press('Enter');
  await becomes(page, card, 'cancelled');
  // The focus has not moved.
  await until(page, card, (it) => it.contains(document.activeElement));
  await page.waitForFunction(() => /export\.archive.*cancelled/i.test(document.querySelector('#announcements')?.textContent ?? ''));
});

test('no control of a form is cut off at 360 px', { timeout: 60_000 }, async (t) => {
  const page = await demo.open({ width: 360, height: 740, isMobile: true, hasTouch: true });
  t.after(() => page.close());
  for (const [name, preset] of [...names.map((name) => [name, 'Small']), ['stop.never', 'Loop']]) {
    const form = await choose(page, String(name), String(preset));
    const cut = await page.$$eval(`${form} :is(label, button, input, select, textarea)`, (controls) => {
      const isCut = (/** @type {Element} */ it) => it.getBoundingClientRect().right > document.documentElement.clientWidth;
      return controls.filter((it) => /** @type {HTMLElement} */ (it).offsetParent && isCut(it)).map((it) => it.outerHTML.slice(0, 100));
    });
    assert.deepEqual(cut, [], String(name));
  }
});

for (const colours of /** @type {const} */ (['light', 'dark'])) {
  test(`nothing scrolls sideways at 360 px, ${colours}`, { timeout: 120_000 }, async (t) => {
    const page = await demo.open({ width: 360, height: 740, isMobile: true, hasTouch: true });
    t.after(() => page.close());
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: colours }]);
    const scrolls = () => page.evaluate(() => ({ page: document.documentElement.scrollWidth, window: innerWidth }));
    for (const name of names) {
      const form = await choose(page, name, 'Small');
      const card = await newCall(page, () => click(page, `${form} .primary`));
      await becomes(page, card, 'completed');
      await click(page, `${card} .cancel`);
      await page.waitForSelector(`${card} .verdict[data-agree=true]`);
      await page.evaluate(() => document.querySelectorAll('.call .fold').forEach((it) => it.toggleAttribute('open', true)));
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
      assert.deepEqual(await scrolls(), { page: 360, window: 360 }, name);
    }
  });
}
