import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launchPuppeteer } from '../support/browsers.mjs';
import { rustAppFolder } from '../support/rust-app.mjs';
import { serveFiles } from '../support/static-server.mjs';

/** How many calls are measured: 100 000 before a release, or the number in the environment. */
const CALLS = Number(process.env.CAPHOST_LEAK_CALLS ?? (process.env.CAPHOST_STORMS === 'full' ? 100_000 : 10_000));
/** How many calls warm up: after them, an agent's record of ended calls is full, and nothing else is allocated. */
const WARM = 10_500;
/** Bytes by which the wasm memory may grow: the table of remembered calls grows once more at some time. */
const ROOM = 6 * 65_536;

/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;
/** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
let browser;

before(async () => {
  server = await serveFiles({ folders: { '/rust-app-build/': rustAppFolder() } });
  browser = await launchPuppeteer();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/**
 * @param {import('node:test').TestContext} t
 * @param {string} capability
 * @param {boolean} port whether calls go over a port instead of staying within the page
 * @param {boolean} all whether calls use every option
 */
async function leftBy(t, capability, port, all) {
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.goto(server.url('/rust-app/'));
  await page.waitForSelector('html[data-ready]');
  const devtools = await page.createCDPSession();
  await page.evaluate(async (port) => {
    const { port1, port2 } = new MessageChannel();
    const { Many } = /** @type {any} */ (globalThis);
    Object.assign(globalThis, { signal: new AbortController().signal, many: await (port ? Many.connect(port1, port2) : Many.connect()) });
  }, port);
  const call = (/** @type {number} */ count) =>
    page.evaluate((capability, count, all) => {
      const { many, signal } = /** @type {any} */ (globalThis);
      return many.call(capability, count, all, signal);
    }, capability, count, all);
  const measure = async () => {
    // Finalizers run in tasks of their own, and allow more garbage to be collected.
    for (let round = 0; round < 3; round += 1) {
      await devtools.send('HeapProfiler.collectGarbage');
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
    }
    const { usedSize } = await devtools.send('Runtime.getHeapUsage');
    const { references, memory, inFlight } = await page.evaluate(() => {
      const { references, memory, inFlight } = /** @type {any} */ (globalThis).many;
      return { references, memory, inFlight };
    });
    return { references, memory, inFlight, heap: usedSize };
  };
  await call(WARM);
  const before = await measure();
  await call(CALLS);
  const after = await measure();
  assert.equal(after.inFlight, 0);
  return {
    references: after.references - before.references,
    memory: after.memory - before.memory,
    heap: after.heap - before.heap,
  };
}

/** @type {[what: string, capability: string, options?: { port?: boolean, all?: boolean }][]} */
const calls = [
  ['that completes', 'plain'],
  ['that completes over a port', 'plain', { port: true }],
  ['with a timeout, a signal and progress', 'plain', { all: true }],
  ['that fails', 'fails'],
  ['that is cancelled', 'hold'],
  ['that is cancelled over a port', 'hold', { port: true }],
  ['whose handler calls another', 'child'],
  ['whose handler takes a cancellation token', 'token'],
  ['whose handler spawns a task that waits for its cancel', 'task'],
];
for (const [what, capability, { port = false, all = false } = {}] of calls) {
  test(`a call of an agent in Rust ${what} leaves nothing behind`, async (t) => {
    const left = await leftBy(t, capability, port, all);
    t.diagnostic(JSON.stringify({ calls: CALLS, ...left }));
    // A closure that is left behind by each call takes a slot, 67 bytes of wasm and 195 bytes of
    // JavaScript.
    assert.ok(left.references < CALLS / 20, `${left.references} references`);
    assert.ok(left.memory <= ROOM, `${left.memory} bytes of wasm`);
    assert.ok(left.heap < 30 * CALLS, `${left.heap} bytes of JavaScript`);
  });
}
