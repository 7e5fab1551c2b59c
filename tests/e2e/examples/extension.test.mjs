/** The extension example, in a browser with the extension. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import puppeteer from 'puppeteer-core';
import { findChromium } from '../../../scripts/browser/find.mjs';
import { chromiumFlags } from '../../../scripts/browser/flags.mjs';
import { root } from '../../../scripts/paths.mjs';
import { click, fill, reads, until } from '../support/hands.mjs';
import { serveFiles } from '../support/static-server.mjs';
import { commandsOf, runLine, startLine } from './readme.mjs';

/** An app that shows the state of its call in its title. */
const watched = `<!doctype html>
<script type="module">
  import { createHost } from '/caphost/index.js';
  const host = await createHost({ app: { id: 'watched', name: 'Watched', version: '1.0.0' } });
  host.register('wait', {}, (params, { signal }) => new Promise((resolve, reject) => {
    document.title = 'running';
    signal.onabort = () => {
      document.title = signal.reason.message;
      reject(signal.reason);
    };
  }));
  host.acceptMessages();
</script>`;

/** @type {import('puppeteer-core').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;
/** @type {string} */
let id;

before(async () => {
  const [first, build = '', , ...more] = commandsOf('extension');
  assert.deepEqual([first, more], ['npm run build:package', []]);
  await runLine(build);
  const policy = { 'content-security-policy': "default-src 'none'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; connect-src 'self'; img-src data:" };
  const pages = { '/nothing': '<!doctype html><title>Nothing</title>', '/app/watched.html': watched };
  server = await serveFiles({ folders: { '/app/': join(root, 'examples', 'parent-and-frame') }, pages, headers: policy });
  browser = await puppeteer.launch({ executablePath: findChromium() ?? '', headless: true, pipe: true, enableExtensions: true, args: chromiumFlags() });
  id = await browser.installExtension(join(root, 'examples', 'extension'));
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** Opens a page, and the popup for its tab as another page. @param {import('node:test').TestContext} t @param {string} path */
async function opened(t, path) {
  const popup = await browser.newPage();
  t.after(() => popup.isClosed() || popup.close());
  await popup.goto(`chrome-extension://${id}/popup.css`);
  const tabs = () => popup.evaluate(async () => (await /** @type {any} */ (globalThis).chrome.tabs.query({})).map((/** @type {{ id: number }} */ tab) => tab.id));
  const before = await tabs();
  const page = await browser.newPage();
  t.after(() => page.isClosed() || page.close());
  await page.goto(new URL(path, server.origin).href);
  const [tab] = (await tabs()).filter((/** @type {number} */ it) => !before.includes(it));
  await popup.goto(`chrome-extension://${id}/popup.html?tab=${tab}`);
  await popup.bringToFront();
  return { page, popup };
}

/** @param {import('puppeteer-core').Page} popup @param {string} element @param {RegExp} text */
const shows = (popup, element, text) =>
  popup.waitForFunction((selector, source) => new RegExp(source).test(document.querySelector(selector)?.textContent ?? ''), { polling: 50 }, element, text.source);

/** @param {import('puppeteer-core').Page} popup @param {string} params */
async function call(popup, params) {
  await fill(popup, '#params', params);
  await click(popup, '#call');
}

test('the popup lists what the app offers, calls it, and stops it', { timeout: 60_000 }, async (t) => {
  const { url } = await startLine(t, String(commandsOf('extension').at(-1)));
  const { popup } = await opened(t, `${url}/app.html`);
  await shows(popup, '#app', /^Counter$/);
  await reads(popup, '#capability', 'count.to');
  await call(popup, '{ "end": 5 }');
  await shows(popup, '#said', /"counted": 5/);
  await call(popup, '{ "end": "many" }');
  await shows(popup, '#said', /^INVALID_TYPE: /);
  await call(popup, '{ "end": 100000 }');
  await popup.waitForFunction(() => /** @type {HTMLProgressElement} */ (document.querySelector('#progress')).value > 0);
  await click(popup, '#stop');
  await shows(popup, '#said', /^Stopped: returned$/);
});

test('a closed popup cancels its call, and the page continues', { timeout: 60_000 }, async (t) => {
  const { page, popup } = await opened(t, '/app/watched.html');
  await shows(popup, '#app', /^Watched$/);
  await call(popup, '{}');
  await page.waitForFunction(() => document.title === 'running', { polling: 50 });
  await popup.close();
  await page.waitForFunction(() => document.title === 'The popup was closed', { polling: 50 });
});

test('the popup reports a page without capabilities, and a page that goes away ends the call', { timeout: 60_000 }, async (t) => {
  const { popup: lonely } = await opened(t, '/nothing');
  await shows(lonely, '#app', /^This page offers nothing$/);
  const { page, popup } = await opened(t, '/app/app.html');
  await shows(popup, '#app', /^Counter$/);
  await call(popup, '{ "end": 100000 }');
  await popup.waitForFunction(() => /** @type {HTMLProgressElement} */ (document.querySelector('#progress')).value > 0);
  await page.close();
  await shows(popup, '#said', /./);
  await until(popup, '#stop', (it) => it.disabled);
});
