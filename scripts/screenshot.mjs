// Takes docs/demo.png and docs/demo-dark.png, the pictures of the demo page in the README: one call
// runs, one is cancelled with its confirmation, one is completed. Needs the built demo and gateway.

/* global document, HTMLElement */
import { connectWebSocket } from 'caphost/agent';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { launchPuppeteer } from '../tests/e2e/support/browsers.mjs';
import { becomes, choose, newCall, reaches } from '../tests/e2e/support/demo-page.mjs';
import { startGateway } from '../tests/e2e/support/gateway.mjs';
import { root } from './paths.mjs';

// A browser without a screen has no mouse, and the demo then shows the buttons that a mouse reveals.
const mouse = '--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4';
const [gateway, launched] = await Promise.all([startGateway(), launchPuppeteer({ args: [mouse] })]);
try {
  const page = await launched.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(`${gateway.url}/`);
  await page.waitForSelector('#gateway[data-state=connected]');
  await page.waitForSelector('.capability');
  const agent = await connectWebSocket(`${gateway.wsUrl}/abp?app=caphost-demo`, { agent: { name: 'reporting agent', version: '1.0' } });

  // Earlier calls in the history.
  for (const name of ['convert.markdownToHtml', 'image.process', 'ai.summarize']) {
    const form = await choose(page, name, 'Small');
    await becomes(page, await newCall(page, () => page.click(`${form} .primary`)), 'completed');
  }

  const pdf = await choose(page, 'export.pdf', 'Small');
  const exported = await newCall(page, () => page.click(`${pdf} .primary`));
  await becomes(page, exported, 'completed');
  await page.waitForSelector(`${exported} .result .caption`);

  // A call that never ends by itself.
  const never = await choose(page, 'stop.never', 'Loop');
  const stopped = await newCall(page, () => page.click(`${never} .primary`));
  await page.waitForFunction((selector) => document.querySelector(selector)?.textContent?.includes('not listening'), {}, stopped);
  await page.click(`${stopped} .cancel`);
  await becomes(page, stopped, 'cancelled');

  const running = agent.call('export.archive', { megabytes: 400, files: 12 }, { callId: 'quarterly-orders', onProgress() {} });
  const card = '.call[data-call-id="quarterly-orders"]';
  await becomes(page, card, 'running');
  await page.evaluate(() => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    for (const it of [document.documentElement, ...document.querySelectorAll('main, main > section')]) it.scrollTop = 0;
  });
  await reaches(page, card, 20);
  for (const [scheme, name] of Object.entries({ light: 'demo.png', dark: 'demo-dark.png' })) {
    const file = join(root, 'docs', name);
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }, { name: 'prefers-reduced-motion', value: 'reduce' }]);
    await page.screenshot({ path: /** @type {`${string}.png`} */ (file) });
    console.log(`${file}: ${Math.round(statSync(file).size / 1000)} kB`);
  }
  await agent.shutdown();
  await running;
} finally {
  await launched.close();
  await gateway.stop();
}
