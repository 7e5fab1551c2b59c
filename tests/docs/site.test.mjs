/**
 * The documentation site as it is built: its links, and what axe finds on its pages.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { filesUnder } from '../../scripts/build/stamp.mjs';
import { run } from '../../scripts/command.mjs';
import { root } from '../../scripts/paths.mjs';
import { launchPuppeteer } from '../e2e/support/browsers.mjs';
import { serveFiles } from '../e2e/support/static-server.mjs';

const built = join(root, 'target', 'docs');
const shots = join(root, 'target', 'docs-shots');
const axe = createRequire(join(root, 'docs', 'package.json')).resolve('axe-core/axe.min.js');

/** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
let browser;
/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;

before(async () => {
  // Fails for a link to a page that is not there.
  const { code, output } = await run(process.execPath, [join(root, 'scripts', 'docs.mjs')], { quiet: true, timeoutMs: 300_000 });
  assert.equal(code, 0, output);
  [server, browser] = await Promise.all([serveFiles({ folders: { '/': `${built}/` } }), launchPuppeteer()]);
  mkdirSync(shots, { recursive: true });
}, { timeout: 320_000 });
after(async () => {
  await browser?.close();
  await server?.close();
});

const pages = () => filesUnder(built).filter((path) => path.endsWith('.html') && !path.endsWith('404.html')).map((path) => relative(built, path));

test('every link within the site leads to a page, and to a heading of it', () => {
  const html = new Map(pages().map((path) => [`/${path}`, readFileSync(join(built, path), 'utf8')]));
  assert.ok(html.size > 20);
  const lost = [];
  for (const [path, text] of html) {
    for (const [, href = ''] of text.matchAll(/<a [^>]*?href="([^"]+)"/g)) {
      const { origin, pathname, hash } = new URL(href.replaceAll('&amp;', '&'), `http://site${path}`);
      if (origin !== 'http://site') continue;
      const target = html.get(pathname.endsWith('/') ? `${pathname}index.html` : pathname);
      const anchor = decodeURIComponent(hash.slice(1));
      if (target === undefined || (anchor !== '' && !target.includes(`id="${anchor}"`))) lost.push(`${path} → ${href}`);
    }
  }
  assert.deepEqual(lost, []);
});

for (const dark of [false, true]) {
  test(`axe finds nothing on any page, ${dark ? 'dark' : 'light'}`, { timeout: 240_000 }, async () => {
    const page = await browser.newPage();
    await page.setViewport({ width: 1280, height: 900 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }, { name: 'prefers-reduced-motion', value: 'reduce' }]);
    const found = [];
    for (const path of pages()) {
      await page.goto(server.url(`/${path}`), { waitUntil: 'networkidle0' });
      await page.addScriptTag({ path: axe });
      const { violations } = await page.evaluate(() => /** @type {any} */ (window).axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa'] }));
      for (const { id, nodes } of violations) found.push(`${path}: ${id}: ${nodes.slice(0, 3).map((/** @type {any} */ it) => it.html.slice(0, 160)).join(' | ')}`);
      writeFileSync(join(shots, `${path.replaceAll('/', '-')}${dark ? '-dark' : ''}.png`), await page.screenshot());
    }
    await page.close();
    assert.deepEqual(found, []);
  });
}

test('the keyboard alone: skip to the text, search, and open what was found', { timeout: 60_000 }, async () => {
  const page = await browser.newPage();
  await page.goto(server.url('/guide/cancellation.html'), { waitUntil: 'networkidle0' });
  await page.keyboard.press('Tab');
  assert.match(await page.evaluate(() => document.activeElement?.textContent ?? ''), /Skip to content/);
  await page.keyboard.down('Control');
  await page.keyboard.press('k');
  await page.keyboard.up('Control');
  await page.waitForSelector('.VPLocalSearchBox input');
  await page.keyboard.type('wasm-unsafe-eval');
  await page.waitForSelector('.VPLocalSearchBox .result');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.pathname.endsWith('/guide/bundlers.html'));
  await page.close();
});
