// Takes docs/activity.png and docs/activity-dark.png, the pictures of `<cap-activity>` in the
// documentation: some calls run, one is cancelled, one is done. Needs the built package.

/* global document */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { launchPuppeteer } from '../tests/e2e/support/browsers.mjs';
import { serveFiles } from '../tests/e2e/support/static-server.mjs';
import { root } from './paths.mjs';

const page = `<!doctype html>
<html lang="en">
<style>:root { color-scheme: light dark } body { margin: 24px; width: 520px; background: light-dark(#ffffff, #1b1b1f) } </style>
<cap-activity></cap-activity>
<script type="module">
  import { createHost } from '/caphost/index.js';
  import { connectPort } from '/caphost/agent.js';
  import '/caphost/activity.js';
  const host = await createHost({ app: { id: 'shop', name: 'Shop', version: '1.0.0' } });
  document.querySelector('cap-activity').host = host;
  const work = ({ at, stage }, { progress, signal }) => new Promise((resolve, reject) => {
    if (at === undefined) return resolve();
    progress({ progress: at, total: 100, stage });
    signal.onabort = () => reject(signal.reason);
  });
  const titles = { 'report.export': 'Export the report', 'prices.compare': 'Compare prices', 'orders.search': 'Search orders', 'catalogue.translate': 'Translate the catalogue' };
  for (const [name, title] of Object.entries(titles)) host.register(name, { title }, work);
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const agent = await connectPort(port2, { agent: { name: 'Shopping assistant', version: '1.0.0' } });
  await agent.call('orders.search');
  void agent.call('catalogue.translate', { at: 12 }, { callId: 'translate', onProgress() {} });
  void agent.call('prices.compare', { at: 35, stage: 'Reading 40 shops' }, { onProgress() {} });
  void agent.call('report.export', { at: 72, stage: 'Drawing the pages' }, { onProgress() {} });
  setTimeout(() => host.cancel('translate', { by: 'user' }), 2500);
</script>`;

/** @param {'light' | 'dark'} scheme @param {string} file */
async function take(scheme, file) {
  const tab = await browser.newPage();
  await tab.setViewport({ width: 568, height: 600, deviceScaleFactor: 2 });
  await tab.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await tab.goto(server.url('/'));
  await tab.waitForFunction(() => document.querySelector('cap-activity')?.shadowRoot?.textContent?.includes('Stopped:'));
  await pause(1500);
  const shown = await tab.$('cap-activity');
  const box = await shown?.boundingBox();
  if (!box) throw new Error('nothing is shown');
  const around = { x: 0, y: 0, width: 568, height: box.y + box.height + 24 };
  await tab.screenshot({ path: /** @type {`${string}.png`} */ (join(root, 'docs', file)), clip: around });
  await tab.close();
}

const [server, browser] = await Promise.all([serveFiles({ pages: { '/': page } }), launchPuppeteer()]);
try {
  await take('light', 'activity.png');
  await take('dark', 'activity-dark.png');
} finally {
  await browser.close();
  await server.close();
}
