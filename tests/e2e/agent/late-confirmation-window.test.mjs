import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchPuppeteer } from '../support/browsers.mjs';
import { serveTwoOrigins } from '../support/static-server.mjs';
import { confirmed } from './pages.mjs';

/** Milliseconds that the app has to confirm a cancel, and milliseconds for which the app is blocked. */
const [GRACE, STANDS_STILL] = [200, 1500];

test('after a blocked page in a frame continues, a repeated cancel gets its late confirmation, over connectWindow', { timeout: 60_000 }, async (t) => {
  const [browser, servers] = await Promise.all([launchPuppeteer(), serveTwoOrigins()]);
  t.after(() => Promise.all([browser.close(), servers.close()]));
  const page = await browser.newPage();
  await page.goto(servers.first.url('/parent/'));
  await page.waitForSelector('html[data-ready]');
  // A frame of another site has a thread of its own, so the page of the agent is not blocked.
  const app = new URL(servers.second.url(`/host/?origins=${servers.first.origin}`));
  app.hostname = 'localhost';
  await page.evaluate(async (url, grace) => {
    const { agents, frame } = /** @type {any} */ (window);
    const element = await frame(url);
    const agent = await agents.connectWindow(element.contentWindow, { origin: new URL(url).origin, grace });
    const stop = new AbortController();
    const held = agent.call('test.hold', {}, { callId: 'held' });
    const aborted = agent.call('test.hold', {}, { callId: 'aborted', signal: stop.signal });
    for (const callId of ['held', 'aborted']) await agent.call('test.started', { callId });
    Object.assign(window, { agent, stop, held, aborted });
  }, app.href, GRACE);
  const inside = page.frames().find((it) => it.url() === app.href);
  await inside?.evaluate((milliseconds) => void setTimeout(() => {
    for (const end = performance.now() + milliseconds; performance.now() < end;);
  }), STANDS_STILL);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const seen = await page.evaluate(async () => {
    const { agent, stop, held, aborted } = /** @type {any} */ (window);
    const began = performance.now();
    stop.abort();
    const first = await agent.cancel('held');
    const calls = [await held, await aborted].map(({ error }) => error?.code);
    const took = performance.now() - began;
    const echo = await agent.call('test.echo', { a: 1 });
    /** @type {any[]} */
    const again = [];
    for (const callId of ['held', 'aborted']) for (let asked = 0; asked < 2; asked += 1) again.push(await agent.cancel(callId));
    return { first: [first.cancelled, first.reason, first.error?.code], calls, took, echo: echo.success, again };
  });
  assert.deepEqual([seen.first, seen.calls, seen.echo], [[false, 'No confirmation from the app', 'TIMEOUT'], ['TIMEOUT', 'TIMEOUT'], true]);
  assert.deepEqual(seen.again, ['held', 'held', 'aborted', 'aborted'].map((it) => confirmed(it, 'returned')));
});
