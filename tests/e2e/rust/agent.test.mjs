import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launchPuppeteer } from '../support/browsers.mjs';
import { startGateway } from '../support/gateway.mjs';
import { rustAppFolder } from '../support/rust-app.mjs';
import { serveFiles } from '../support/static-server.mjs';

/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;
/** A server of another origin. @type {Awaited<ReturnType<typeof serveFiles>>} */
let other;
/** @type {Awaited<ReturnType<typeof startGateway>>} */
let gateway;
/** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
let browser;

before(async () => {
  const folders = { '/rust-app-build/': rustAppFolder() };
  [server, other] = await Promise.all([serveFiles({ folders }), serveFiles({ folders })]);
  gateway = await startGateway({ args: ['--allow-origin', server.origin] });
  browser = await launchPuppeteer();
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
  await Promise.all([server?.close(), other?.close()]);
});

/** @param {import('node:test').TestContext} t */
async function appPage(t) {
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.goto(server.url('/rust-app/'));
  await page.waitForSelector('html[data-ready]');
  return page;
}

/** The records of a handler of the app and of its drop guard, in order. */
const HELD_TWICE = ['started', 'dropped', 'started', 'dropped'];
/** @param {{ confirmed: [boolean, string], stopped: string, unknown: string, listed: number }} report */
function isTruthful({ listed, ...report }) {
  assert.deepEqual(report, { confirmed: [true, 'dropped'], stopped: 'dropped', unknown: 'UNKNOWN_CAPABILITY' });
  assert.ok(listed > 5, String(listed));
}

test('an agent in Rust calls and cancels in a frame of another origin', async (t) => {
  const page = await appPage(t);
  const [report, seen] = await page.evaluate(async (url, origin) => {
    const frame = document.createElement('iframe');
    frame.src = url;
    // The app in the frame listens once it has loaded.
    const loaded = new Promise((resolve) => (frame.onload = resolve));
    document.body.append(frame);
    await loaded;
    const heard = new Promise((resolve) => addEventListener('message', ({ data }) => Array.isArray(data) && resolve(data)));
    const { agentReport } = /** @type {any} */ (window);
    const report = await agentReport(frame.contentWindow, origin);
    frame.contentWindow?.postMessage('seen', origin);
    return [report, await heard];
  }, other.url(`/rust-app/#${server.origin}`), other.origin);
  isTruthful(report);
  assert.deepEqual(seen, HELD_TWICE);
});

test('an agent in Rust calls and cancels through a gateway', async (t) => {
  const [app, agent] = [await appPage(t), await appPage(t)];
  await app.evaluate((url) => new Promise((resolve) => {
    const { host } = /** @type {any} */ (window);
    host.observe((/** @type {any} */ event) => event.type === 'gateway' && event.state === 'connected' && resolve(undefined));
    host.connectGateway(url);
  }), `${gateway.wsUrl}/abp/app`);
  isTruthful(await agent.evaluate((url) => /** @type {any} */ (window).agentReport(url), `${gateway.wsUrl}/abp?app=rust-app`));
  const seen = await app.evaluate(() => /** @type {any} */ (window).seen.map((/** @type {[string]} */ [what]) => what));
  assert.deepEqual(seen, HELD_TWICE);
});

test('an agent in Rust learns that the gateway has no such app', async (t) => {
  const page = await appPage(t);
  const refused = await page.evaluate((url) => /** @type {any} */ (window).agentReport(url).catch((/** @type {any} */ error) => [error.name, error.code]), `${gateway.wsUrl}/abp?app=none`);
  assert.deepEqual(refused, ['CapHostError', 'DISCONNECTED']);
});
