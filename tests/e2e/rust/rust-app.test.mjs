import assert from 'node:assert/strict';
import { after, before, beforeEach, afterEach, test } from 'node:test';
import { launchPuppeteer } from '../support/browsers.mjs';
import { rustAppFolder } from '../support/rust-app.mjs';
import { serveFiles } from '../support/static-server.mjs';

/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;
/** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
let browser;
/** @type {import('puppeteer-core').Page} */
let page;

before(async () => {
  server = await serveFiles({ folders: { '/rust-app-build/': rustAppFolder() } });
  browser = await launchPuppeteer();
});
after(async () => {
  await browser?.close();
  await server?.close();
});
beforeEach(async () => {
  page = await browser.newPage();
  await page.goto(server.url('/rust-app/'));
  await page.waitForSelector('html[data-ready]');
  await page.evaluate(() =>
    /** @type {any} */ (window).abp.initialize({ agent: { name: 't', version: '1' }, protocolVersion: '0.1', features: { elicitation: true } }));
});
afterEach(() => page?.close());

test('when a cancel returns, the drop guards of a Rust capability have run', async () => {
  const result = await page.evaluate(async () => {
    const call = /** @type {any} */ (window).abp.call('rust.hold', {}, { callId: 'a' });
    await new Promise((resolve) => setTimeout(resolve, 0));
    const cancel = /** @type {any} */ (window).abp.cancel('a', 'enough');
    // Synchronous, before a promise could report anything.
    const atOnce = structuredClone(/** @type {any} */ (window).seen);
    return { atOnce, cancel: await cancel, call: await call };
  });
  assert.deepEqual(result.atOnce, [['started', 'a'], ['dropped', 'a']]);
  assert.deepEqual(result.cancel, { callId: 'a', cancelled: true, metadata: { stop: 'dropped' } });
  assert.deepEqual(result.call, { success: false, cancelled: true, metadata: { stop: 'dropped' } });
});

test('an aborted signal drops the Rust future synchronously', async () => {
  const result = await page.evaluate(async () => {
    const controller = new AbortController();
    const call = /** @type {any} */ (window).abp.call('rust.hold', {}, { callId: 'a', signal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 0));
    controller.abort();
    return { atOnce: structuredClone(/** @type {any} */ (window).seen), call: await call };
  });
  assert.deepEqual(result.atOnce.at(-1), ['dropped', 'a']);
  assert.deepEqual(result.call, { success: false, cancelled: true, metadata: { stop: 'dropped' } });
});

test('a cancel reaches the operation that a Rust capability awaits, as an AbortSignal with the reason', async () => {
  const seenAfter = await page.evaluate(async () => {
    const call = /** @type {any} */ (window).abp.call('rust.fetch', {}, { callId: 'a' });
    await new Promise((resolve) => setTimeout(resolve, 0));
    await /** @type {any} */ (window).abp.cancel('a', 'the user left');
    await call;
    return /** @type {any} */ (window).seen;
  });
  assert.deepEqual(seenAfter, [['started', 'a'], ['aborted', 'the user left']]);
});

test('a cancel stops a long computation at its next checkpoint', async () => {
  const result = await page.evaluate(async () => {
    const call = /** @type {any} */ (window).abp.call('rust.compute', { rounds: 4_000_000 }, { callId: 'a' });
    // The page stays responsive while the handler computes: two frames are painted.
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const cancel = await /** @type {any} */ (window).abp.cancel('a');
    return { cancel, seen: structuredClone(/** @type {any} */ (window).seen), call: await call, stats: /** @type {any} */ (window).host.stats() };
  });
  assert.equal(result.cancel.cancelled, true);
  assert.deepEqual(result.seen, [['dropped', 'a']]);
  assert.deepEqual(result.call, { success: false, cancelled: true, metadata: { stop: 'dropped' } });
  assert.equal(result.stats.tasks, 0);
});

test('parameters and data pass through serde, and bad ones are refused', async () => {
  const { good, bad } = await page.evaluate(async () => ({
    good: await /** @type {any} */ (window).abp.call('rust.compute', { rounds: 1 }),
    bad: await /** @type {any} */ (window).abp.call('rust.compute', { rounds: 'many' }),
  }));
  assert.equal(good.success, true);
  assert.ok(good.data.sum > 20_000);
  assert.equal(bad.error.code, 'INVALID_PARAMS');
});

test('a child call of a Rust capability is cancelled with its parent, the child first', async () => {
  const result = await page.evaluate(async () => {
    const call = /** @type {any} */ (window).abp.call('rust.parent', {}, { callId: 'parent' });
    await new Promise((resolve) => setTimeout(resolve, 0));
    await /** @type {any} */ (window).abp.cancel('parent');
    return { seen: /** @type {any} */ (window).seen, call: await call };
  });
  const dropped = result.seen.filter((/** @type {string[]} */ [what]) => what === 'dropped').map((/** @type {string[]} */ [, id]) => id);
  assert.equal(dropped.length, 2);
  assert.equal(dropped[1], 'parent');
  assert.deepEqual(result.call, { success: false, cancelled: true, metadata: { stop: 'dropped' } });
});

test('a Rust capability asks the agent', async () => {
  await page.exposeFunction('__abp_elicitation', () => ({ success: true, data: { value: 42 } }));
  const response = await page.evaluate(() => /** @type {any} */ (window).abp.call('rust.ask', {}));
  assert.deepEqual(response.data, { value: 42 });
});

test('a capability that Rust unregisters leaves the manifest of the page, and the page is notified', async () => {
  const seen = await page.evaluate(async () => {
    const { abp, host } = /** @type {any} */ (window);
    const offers = async () => {
      const { href } = /** @type {HTMLLinkElement} */ (document.querySelector('link[rel="abp-manifest"]'));
      return (await (await fetch(href)).json()).capabilities.some((/** @type {any} */ it) => it.name === 'rust.leave');
    };
    /** @type {string[]} */
    const events = [];
    host.observe((/** @type {any} */ { type }) => events.push(type));
    const before = await offers();
    const { data } = await abp.call('rust.leave', {});
    await undefined;
    return { before, data, after: await offers(), told: events.filter((type) => type === 'capabilities').length };
  });
  assert.deepEqual(seen, { before: true, data: { sum: 1 }, after: false, told: 1 });
});

test('a panic settles every call with INTERNAL_ERROR, and later ones too', async () => {
  const result = await page.evaluate(async () => {
    const other = /** @type {any} */ (window).abp.call('rust.hold', {}, { callId: 'other' });
    const panicked = /** @type {any} */ (window).abp.call('rust.panic', {}, { callId: 'bad' });
    return {
      panicked: await panicked,
      other: await other,
      later: await /** @type {any} */ (window).abp.call('rust.hold', {}),
      cancel: await /** @type {any} */ (window).abp.cancel('other'),
    };
  });
  for (const response of [result.panicked, result.other, result.later]) {
    assert.equal(response.success, false);
    assert.equal(response.error.code, 'INTERNAL_ERROR');
  }
  assert.equal(result.cancel.cancelled, false);
  assert.equal(result.cancel.error.code, 'INTERNAL_ERROR');
});
