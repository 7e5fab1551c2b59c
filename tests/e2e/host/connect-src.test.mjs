import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchPuppeteer } from '../support/browsers.mjs';
import { serveFiles } from '../support/static-server.mjs';

const html = `<!doctype html><title>strict</title>
<meta http-equiv="content-security-policy" content="connect-src 'none'">
<script type="module">
  import { createHost } from '/caphost/index.js';
  window.said = await createHost({ app: { id: 'a', name: 'A', version: '1' } }).then(() => 'made', ({ message }) => message);
</script>`;

test('the error names the directive if the policy of the page forbids to fetch the wasm', { timeout: 60_000 }, async (t) => {
  const [browser, server] = await Promise.all([launchPuppeteer(), serveFiles({ pages: { '/strict': html } })]);
  t.after(() => Promise.all([browser.close(), server.close()]));
  const page = await browser.newPage();
  await page.goto(server.url('/strict'));
  const said = await page.waitForFunction(() => /** @type {any} */ (window).said);
  const message = String(await said.jsonValue());
  assert.match(message, /^The wasm of caphost at http:.*host\.wasm cannot be fetched: .*connect-src/);
  assert.doesNotMatch(message, /Vite/);
});
