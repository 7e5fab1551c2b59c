import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { attach } from 'caphost/automation';
import puppeteer from 'puppeteer-core';
import { launchPuppeteer } from '../support/browsers.mjs';
import { serveFiles } from '../support/static-server.mjs';

/** @type {any} */
let browser;
/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;
before(async () => {
  // Chromium does not keep a page for the back button if the page must not be stored.
  const pages = { '/kept/': '<!doctype html><script type="module" src="/host/host.js"></script>', '/next/': '<!doctype html>' };
  [browser, server] = await Promise.all([launchPuppeteer(), serveFiles({ pages })]);
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** @param {import('node:test').TestContext} t */
async function appPage(t) {
  const page = await browser.newPage();
  t.after(() => page.close().catch(() => {}));
  await page.goto(server.url('/kept/'));
  await page.waitForSelector('html[data-ready]');
  await page.evaluate(() => addEventListener('pageshow', ({ persisted }) => Object.assign(window, { persisted })));
  return page;
}

/** Attaches an agent and starts a call. @param {any} page @param {string} callId */
async function withCall(page, callId) {
  const agent = await attach(page);
  const held = agent.call('test.stubborn', {}, { callId });
  await agent.call('test.started', { callId });
  return { agent, held };
}

const state = (/** @type {any} */ page) => page.evaluate(() => {
  const { host, persisted, abp } = /** @type {any} */ (window);
  const { inFlight, sessions } = host.stats();
  return { persisted, inFlight, sessions, initialized: abp.initialized };
});

for (const busy of [false, true]) {
  test(`a page that comes back can be attached to again${busy ? ', though a call was in flight when it was left' : ''}`, async (t) => {
    const page = await appPage(t);
    const { agent, held } = busy ? await withCall(page, 'held') : { agent: await attach(page), held: undefined };
    await page.goto(server.url('/next/'));
    if (held) assert.equal((await held).error?.code, 'DISCONNECTED');
    assert.equal(await agent.closed, 'disconnected');
    await page.goBack();
    assert.deepEqual(await state(page), { persisted: true, inFlight: 0, sessions: 0, initialized: false });
    const next = await attach(page);
    assert.deepEqual((await next.call('test.echo', { a: 1 })).data, { a: 1 });
    await next.shutdown();
  });
}

test('a script that comes back with its page has the answers to its calls', async (t) => {
  const page = await appPage(t);
  await page.evaluate(async () => {
    const { abp } = /** @type {any} */ (window);
    await abp.initialize({ agent: { name: 'script', version: '1' }, protocolVersion: '0.1', features: {} });
    const held = abp.call('test.stubborn', {}, { callId: 'held' });
    await abp.call('test.started', { callId: 'held' });
    Object.assign(window, { held });
  });
  await page.goto(server.url('/next/'));
  await page.goBack();
  const { duration: _, ...held } = await page.evaluate(() => /** @type {any} */ (window).held);
  assert.deepEqual(held, { success: false, cancelled: true, metadata: { stop: 'abandoned' } });
  assert.deepEqual(await state(page), { persisted: true, inFlight: 0, sessions: 0, initialized: false });
});

test('the session of an agent whose browser client has silently gone ends by itself', async (t) => {
  const page = await appPage(t);
  // Timers of many seconds are ten times shorter in this page.
  await page.evaluate(() => {
    const { setTimeout: set } = window;
    Object.assign(window, { setTimeout: (/** @type {any} */ work, /** @type {number} */ time) => set(work, time >= 20_000 ? time / 10 : time) });
  });
  const client = await puppeteer.connect({ browserWSEndpoint: browser.browser.wsEndpoint() });
  const its = (await client.pages()).find((it) => it.url() === page.url());
  const { held } = await withCall(its, 'held');
  // An agent that stays keeps its session.
  await new Promise((resolve) => setTimeout(resolve, 6000));
  await assert.rejects(attach(page), { code: 'ALREADY_INITIALIZED', message: /If nobody uses it any more: page\.evaluate\(\(\) => abp\.shutdown\(\)\)$/ });
  assert.equal((await state(page)).inFlight, 1);
  await client.disconnect();
  assert.equal((await held).error?.code, 'DISCONNECTED');
  await page.waitForFunction(() => /** @type {any} */ (window).host.stats().inFlight === 0);
  assert.deepEqual(await state(page), { inFlight: 0, sessions: 0, initialized: false });
  const next = await attach(page);
  assert.deepEqual((await next.call('test.echo', { a: 1 })).data, { a: 1 });
  await next.shutdown();
});

test('a session that somebody else has left is ended at once by a script', async (t) => {
  const page = await appPage(t);
  const client = await puppeteer.connect({ browserWSEndpoint: browser.browser.wsEndpoint() });
  const its = (await client.pages()).find((it) => it.url() === page.url());
  await withCall(its, 'held');
  await client.disconnect();
  await assert.rejects(attach(page), { code: 'ALREADY_INITIALIZED' });
  await page.evaluate(() => /** @type {any} */ (window).abp.shutdown());
  const next = await attach(page);
  assert.deepEqual((await next.call('test.echo', { a: 1 })).data, { a: 1 });
  await next.shutdown();
});

test('agents that have ended, or have found no free session, leave no DevTools attached', async (t) => {
  const page = await appPage(t);
  /** @type {any[]} */
  const sessions = [];
  const open = page.createCDPSession.bind(page);
  page.createCDPSession = async () => {
    const session = await open();
    sessions.push(session);
    return session;
  };
  const agent = await attach(page);
  assert.equal((await agent.call('test.echo', { a: 1 })).success, true);
  await assert.rejects(attach(page), { code: 'ALREADY_INITIALIZED' });
  await agent.shutdown();
  assert.equal(sessions.length, 2);
  while (sessions.some((session) => !session.detached)) await new Promise((resolve) => setTimeout(resolve, 5));
  // One agent after the other uses the page, each with an object of its own in it.
  const next = await attach(page);
  assert.equal((await next.call('test.echo', { a: 1 })).success, true);
  await next.shutdown();
});
