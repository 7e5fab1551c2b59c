/* global OffscreenCanvas, requestAnimationFrame */
import { launchPuppeteer } from '../../tests/e2e/support/browsers.mjs';
import { startGateway } from '../../tests/e2e/support/gateway.mjs';
import { gatewayRelease } from '../paths.mjs';
import { drawLarge, largeJobs } from '../../tests/e2e/support/large-jobs.mjs';

/** Small work, to show the cost of the call itself. @type {Record<string, object>} */
const smallJobs = {
  'export.pdf': { markdown: '# Title\n\nA paragraph.' },
  'ai.summarize': { text: 'One sentence. Another sentence. A third sentence.', sentences: 1 },
  'image.process': { operations: { resize: { width: 8 } }, options: { format: 'png' } },
  'export.archive': { rows: 10 },
};

/**
 * The demo's capabilities: the time to stop large work, and the cost of a call around small work.
 *
 * @returns {Promise<{ rows: import('./rounds.mjs').Row[], close: () => Promise<void> }>}
 */
export async function demoCapabilities() {
  const gateway = await startGateway({ binary: gatewayRelease });
  const launched = await launchPuppeteer();
  const page = await launched.newPage();
  await page.goto(`${gateway.url}/`);
  await page.waitForSelector('.capability');
  const image = await page.evaluate(drawLarge);
  const jobs = Object.fromEntries(Object.entries(largeJobs).map(([name, { params, stopAt }]) => [
    name,
    { stopAt, large: { ...params(), ...(name === 'image.process' && { image }) }, small: smallJobs[name] },
  ]));
  // Sent once, because the parameters are megabytes.
  await page.evaluate(setUpDemo, jobs);

  /** @type {import('./rounds.mjs').Row[]} */
  const rows = [];
  const frames = 'from a cancel under way to the next frame painted';
  const confirmations = 'from a cancel under way to its confirmation';
  const overheads = 'a call of small work, beyond the duration it reports';
  const idle = 'a frame of the idle page';
  rows.push({ group: frames, name: idle, unit: 'ms', measure: () => page.evaluate(() => /** @type {any} */ (globalThis).bench.frame()) });
  /** @type {Map<string, { confirmed: number, painted: number }>} */
  const last = new Map();
  for (const name of Object.keys(jobs)) {
    rows.push({
      group: frames,
      name: `\`${name}\``,
      base: idle,
      unit: 'ms',
      measure: async () => {
        const times = await page.evaluate((it) => /** @type {any} */ (globalThis).bench.stop(it), name);
        last.set(name, times);
        return times.painted;
      },
    });
  }
  // Both numbers come from the same cancel.
  for (const name of Object.keys(jobs)) {
    rows.push({ group: confirmations, name: `\`${name}\``, unit: 'ms', measure: async () => last.get(name)?.confirmed ?? stop(page, name) });
  }
  for (const name of Object.keys(jobs)) {
    rows.push({ group: overheads, name: `\`${name}\``, unit: 'ms', measure: () => page.evaluate((it) => /** @type {any} */ (globalThis).bench.overhead(it), name) });
  }
  return {
    rows,
    close: async () => {
      await launched.close();
      await gateway.stop();
    },
  };
}

/** @param {import('puppeteer-core').Page} page @param {string} name */
async function stop(page, name) {
  return (await page.evaluate((it) => /** @type {any} */ (globalThis).bench.stop(it), name)).confirmed;
}

/** Runs in the page. @param {Record<string, { stopAt: number, large: any, small: any }>} jobs */
async function setUpDemo(jobs) {
  const { createDemo } = await import(/** @type {any} */ ('/caphost_demo.js'));
  const { connectPort } = await import(/** @type {any} */ ('/caphost/agent.js'));
  const host = createDemo();
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const agent = await connectPort(port2);
  const canvas = new OffscreenCanvas(16, 16);
  canvas.getContext('2d');
  const tiny = await (await canvas.convertToBlob()).arrayBuffer();
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => resolve(performance.now())));
  let serial = 0;
  Object.assign(globalThis, {
    bench: {
      async frame() {
        const start = performance.now();
        return (await frame()) - start;
      },
      async stop(/** @type {string} */ name) {
        const { large, stopAt } = jobs[name] ?? { large: {}, stopAt: 0 };
        const callId = `stop-${(serial += 1)}`;
        /** @type {() => void} */
        let reached = () => {};
        const halfway = new Promise((/** @type {(value: void) => void} */ resolve) => { reached = resolve; });
        const call = agent.call(name, large, { callId, onProgress: (/** @type {any} */ info) => info.percentage >= stopAt && reached() });
        await Promise.race([halfway, call]);
        const start = performance.now();
        const painted = frame();
        const { cancelled } = await agent.cancel(callId);
        const confirmed = performance.now() - start;
        if (!cancelled || !(await call).cancelled) throw new Error(`${name} was not stopped`);
        return { confirmed, painted: (await painted) - start };
      },
      async overhead(/** @type {string} */ name) {
        const params = name === 'image.process' ? { ...jobs[name]?.small, image: tiny } : jobs[name]?.small;
        let over = 0;
        for (let i = 0; i < 10; i += 1) {
          const start = performance.now();
          const { metadata, success } = await agent.call(name, params);
          if (!success) throw new Error(`${name} failed`);
          over += performance.now() - start - metadata.duration;
        }
        return over / 10;
      },
    },
  });
}
