import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectWebSocket } from 'caphost/agent';
import { attach } from 'caphost/automation';
import { launchPlaywright, launchPuppeteer } from '../support/browsers.mjs';
import { startGateway } from '../support/gateway.mjs';
import { agreeWithHandlers } from '../support/oracle.mjs';
import { race } from '../support/race.mjs';
import { serveFiles } from '../support/static-server.mjs';
import { heldInPage, watchPage } from '../support/watch-page.mjs';
import { INITIALIZE } from '../support/wire-driver.mjs';

/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;
/** @type {Awaited<ReturnType<typeof startGateway>>} */
let gateway;
/** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
let browser;
/** @type {Awaited<ReturnType<typeof launchPlaywright>>} */
let playwright;

before(async () => {
  server = await serveFiles();
  gateway = await startGateway({ args: ['--allow-origin', server.origin] });
  browser = await launchPuppeteer();
  playwright = await launchPlaywright();
});
after(async () => {
  await browser?.close();
  await playwright?.close();
  await gateway?.stop();
  await server?.close();
});

const full = process.env.CAPHOST_STORMS === 'full';
const first = { calls: 1_000, width: 100, seed: 1, prefix: 'first-' };
const rest = { calls: 9_500, width: 100, seed: 2, prefix: 'rest-' };
/** More bytes than 10 000 remembered calls take, at a host and at an agent together. */
const REMEMBERED = 2 << 20;
// Slow variants make fewer calls, unless the full storms are requested.
const restOfSlow = { ...rest, calls: full ? rest.calls : 1_100 };
const asText = `(${race})`;
/** The options of the agents. The grace is long, because on a busy machine a late answer is not a missing answer. */
const racer = { agent: { name: 'racer', version: '1' }, grace: 90_000 };

/** @param {string} query */
async function hostPage(query = '') {
  const page = await browser.newPage();
  await page.evaluateOnNewDocument(watchPage);
  await page.goto(server.url(`/host/${query}`));
  await page.waitForSelector('html[data-ready]');
  return page;
}

/** @param {import('../support/race.mjs').Tally} tally @param {number} calls */
function agrees(tally, calls) {
  assert.deepEqual(tally.contradictions, []);
  assert.deepEqual(tally.other, []);
  assert.equal(tally.calls, calls);
  for (const way of ['completed', 'never-started', 'returned', 'abandoned']) {
    const count = tally.heard.filter(([, heard]) => heard === way).length;
    assert.ok(count > calls / 100, `${count} of ${calls}: ${way}`);
  }
}

/**
 * @param {{ evaluate: (work: any) => Promise<any> }} page the host's
 * @param {(options: any) => Promise<import('../support/race.mjs').Tally>} run
 * @param {{ more?: typeof rest, timers?: number }} [options] the calls after the first thousand; and how many
 * timers may stand: the host has one for all deadlines, so has an agent in its page, and `attach` one for all
 * evaluations
 */
async function raceOn(page, run, { more = rest, timers = 1 } = {}) {
  const one = await run(first);
  agrees(one, first.calls);
  const before = await page.evaluate(heldInPage);
  const two = await run(more);
  agrees(two, more.calls);
  const held = await page.evaluate(heldInPage);
  await agreeWithHandlers(page, [...one.heard, ...two.heard]);
  assert.equal(held.inFlight, 0);
  assert.equal(held.contexts, 0);
  assert.equal(held.listeners, 0);
  assert.ok(held.timers <= timers, `${held.timers} timers`);
  assert.ok(before.memory > 0, 'the wasm memory is seen');
  assert.ok(held.memory - before.memory < REMEMBERED, `the wasm memory has grown by ${held.memory - before.memory} bytes since the first thousand calls`);
}

test('10 500 calls raced against cancels on window.abp', { timeout: 120_000 }, async () => {
  const page = await hostPage();
  await page.evaluate((params) => /** @type {any} */ (window).abp.initialize(params), INITIALIZE);
  await raceOn(page, (options) => /** @type {Promise<any>} */ (page.evaluate(`${asText}(window.abp, ${JSON.stringify(options)})`)));
  await page.close();
});

test('10 500 calls raced against cancels over a MessagePort, with an agent in the page', { timeout: 120_000 }, async () => {
  const page = await hostPage();
  await page.evaluate(`(async () => {
    const { connectPort } = await import('/caphost/agent.js');
    const { port1, port2 } = new MessageChannel();
    host.acceptPort(port1);
    window.agent = await connectPort(port2, ${JSON.stringify(racer)});
  })()`);
  await raceOn(page, (options) => /** @type {Promise<any>} */ (page.evaluate(`${asText}(window.agent, ${JSON.stringify(options)})`)), { timers: 2 });
  await page.close();
});

test('10 500 calls raced against cancels over window.postMessage, by a plain agent', { timeout: 120_000 }, async () => {
  const page = await hostPage();
  await page.evaluate(`(async () => {
    const frame = document.createElement('iframe');
    frame.srcdoc = '<p>an agent</p>';
    const loaded = new Promise((resolve) => (frame.onload = resolve));
    document.body.append(frame);
    await loaded;
    const inner = frame.contentWindow;
    const waiting = new Map();
    let next = 0;
    inner.addEventListener('message', ({ data }) => { waiting.get(data.id)?.(data.payload); waiting.delete(data.id); });
    // A function of the frame's own realm, so that the messages come from the frame's window.
    const post = inner.eval('(message) => parent.postMessage(message, ' + JSON.stringify(location.origin) + ')');
    const request = (type, payload) => new Promise((resolve) => {
      const id = 'p' + (next += 1);
      waiting.set(id, resolve);
      post({ type, id, timestamp: Date.now(), payload });
    });
    await request('initialize', ${JSON.stringify(INITIALIZE)});
    window.plain = {
      cancel: (callId, reason) => request('capabilities/cancel', { callId, reason }),
      call: async (capability, params, { signal, ...options }) => {
        const call = request('capabilities/call', { capability, params, options });
        signal?.addEventListener('abort', () => request('capabilities/cancel', { callId: options.callId }), { once: true });
        return call;
      },
    };
  })()`);
  // The listeners on signals that never fire belong to the test, so signals are not counted.
  await raceOn(page, (options) => /** @type {Promise<any>} */ (page.evaluate(`${asText}(window.plain, ${JSON.stringify(options)})`)));
  await page.close();
});

test('calls raced against cancels over WebSocket, from Node through the gateway', { timeout: 180_000 }, async () => {
  const page = await hostPage(`?gateway=${gateway.wsUrl}/abp/app`);
  await page.waitForFunction(() => /** @type {any} */ (globalThis).gatewayConnected);
  const agent = await connectWebSocket(`${gateway.wsUrl}/abp`, racer);
  await raceOn(page, (options) => race(agent, options), { more: restOfSlow });
  await agent.shutdown();
  await page.close();
});

test('calls raced against cancels through Puppeteer', { timeout: 240_000 }, async () => {
  const page = await hostPage();
  const agent = await attach(page, racer);
  // Over this way, a cancel arrives many turns of the page later.
  await raceOn(page, (options) => race(agent, { ...options, longest: 60 }), { more: restOfSlow, timers: 2 });
  await agent.shutdown();
  await page.close();
});

test('calls raced against cancels through Playwright', { timeout: 240_000 }, async () => {
  const page = /** @type {any} */ (await playwright.newPage());
  await page.addInitScript(watchPage);
  await page.goto(server.url('/host/'));
  const agent = await attach(page, racer);
  // Over this way, a cancel arrives many turns of the page later.
  await raceOn(page, (options) => race(agent, { ...options, longest: 60 }), { more: restOfSlow, timers: 2 });
  await agent.shutdown();
  await page.close();
});
