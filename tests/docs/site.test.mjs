/**
 * The built documentation site: its links, and the findings of axe on its pages.
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
import { click, comesTo, fill, look, type } from '../e2e/support/hands.mjs';
import { serveFiles } from '../e2e/support/static-server.mjs';

const built = join(root, 'target', 'docs');
const shots = join(root, 'target', 'docs-shots');
const axe = createRequire(join(root, 'docs', 'package.json')).resolve('axe-core/axe.min.js');

/** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
let browser;
/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;

before(async () => {
  // Fails for a link to a missing page.
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

/** Whether a page has this anchor, either plain or encoded. rustdoc encodes its anchors, and writes those of lines without quotes. @param {string} html @param {string} hash */
function hasAnchor(html, hash) {
  const [line] = /^\d+/.exec(hash) ?? [];
  const ids = line ? [`id=${line} `] : [`id="${decodeURIComponent(hash)}"`, `id="${hash}"`];
  return hash === '' || ids.some((id) => html.includes(id));
}

/** Whether another tool has made the page. @param {string} path */
const isForeign = (path) => path.startsWith('api/');

test('every link within the site leads to a page, and to a heading of it', () => {
  const html = new Map(pages().map((path) => [`/${path}`, readFileSync(join(built, path), 'utf8')]));
  assert.ok([...html.keys()].filter((path) => !isForeign(path.slice(1))).length > 20);
  for (const page of ['/api/js/index.html', '/api/rust/caphost/index.html']) assert.ok(html.get('/reference/errors.html')?.includes(`href="${page}"`), page);
  const lost = [];
  for (const [path, text] of html) {
    for (const [, href = ''] of text.matchAll(/<a [^>]*?href="([^"]+)"/g)) {
      const { origin, pathname, hash } = new URL(href.replaceAll('&amp;', '&'), `http://site${path}`);
      // rustdoc does not resolve names that the documentation of another crate's trait uses.
      if (origin !== 'http://site' || (isForeign(path.slice(1)) && href.includes('::'))) continue;
      const target = html.get(pathname.endsWith('/') ? `${pathname}index.html` : pathname);
      if (target === undefined || !hasAnchor(target, hash.slice(1))) lost.push(`${path} → ${href}`);
    }
  }
  assert.deepEqual(lost, []);
});

test('axe finds nothing on any page, light or dark', { timeout: 240_000 }, async () => {
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  /** @type {string[]} */
  const found = [];
  const scheme = (/** @type {string} */ value) => page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }, { name: 'prefers-reduced-motion', value: 'reduce' }]);
  /** @param {string} path @param {string} mode @param {any} rules */
  const look = async (path, mode, rules) => {
    const { violations } = await page.evaluate((it) => /** @type {any} */ (window).axe.run(document, { runOnly: it }), rules);
    for (const { id, nodes } of violations) found.push(`${path}, ${mode}: ${id}: ${nodes.slice(0, 3).map((/** @type {any} */ it) => it.html.slice(0, 160)).join(' | ')}`);
    writeFileSync(join(shots, `${path.replaceAll('/', '-')}-${mode}.png`), await page.screenshot());
  };
  for (const path of pages().filter((it) => !isForeign(it))) {
    await scheme('light');
    await page.goto(server.url(`/${path}`), { waitUntil: 'networkidle0' });
    await page.addScriptTag({ path: axe });
    await look(path, 'light', ['wcag2a', 'wcag2aa', 'wcag21aa']);
    // Dark mode differs only in its colours.
    await scheme('dark');
    // The page of the playground has only its style sheet for dark mode.
    await page.waitForFunction(() => !document.querySelector('.VPContent') || document.documentElement.classList.contains('dark'));
    await look(path, 'dark', { type: 'rule', values: ['color-contrast', 'link-in-text-block'] });
  }
  await page.close();
  assert.deepEqual(found, []);
});

test('the pictures of the demo and of <cap-activity> are as light or dark as the site, also when the reader changes that', { timeout: 60_000 }, async () => {
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
  for (const [path, name] of [['index', 'demo'], ['guide/activity', 'activity']]) {
    await page.goto(server.url(`/${path}.html`), { waitUntil: 'networkidle0' });
    const shown = () => page.$$eval('main img, .VPHero img', (all) => [...new Set(all.filter((it) => it.checkVisibility() && it.naturalWidth > 0).map((it) => /(\w+(-dark)?)\.[\w-]+\.png/.exec(it.src)?.[1]))]);
    await comesTo(shown, [name]);
    await click(page, '.VPNavBar .VPSwitchAppearance');
    await comesTo(shown, [`${name}-dark`]);
    await click(page, '.VPNavBar .VPSwitchAppearance');
  }
  await page.close();
});

test('the words in the picture of a cancel can be read on a narrow screen', { timeout: 60_000 }, async () => {
  const page = await browser.newPage();
  await page.setViewport({ width: 380, height: 800 });
  await page.goto(server.url('/guide/cancellation.html'), { waitUntil: 'networkidle0' });
  const { drawn, source } = await look(page, "img[alt^='In time']", (it) => ({ drawn: it.getBoundingClientRect().width, source: it.getAttribute('src') ?? '' }));
  const svg = await (await fetch(new URL(source, page.url()))).text();
  const [, width] = /viewBox=["']0 0 (\d+)/.exec(svg) ?? [];
  const [, size] = /font: ?(\d+)px/.exec(svg) ?? [];
  const pixels = Number(size) * (drawn / Number(width));
  assert.ok(pixels >= 9, `${pixels} px`);
  await page.close();
});

test('the keyboard alone: skip to the text, search, and open what was found', { timeout: 60_000 }, async () => {
  const page = await browser.newPage();
  await page.goto(server.url('/guide/cancellation.html'), { waitUntil: 'networkidle0' });
  await page.keyboard.press('Tab');
  await comesTo(() => page.evaluate(() => document.activeElement?.textContent?.trim()), 'Skip to content');
  // The page handles keys once its scripts have started.
  await comesTo(async () => {
    await page.keyboard.down('Control');
    await page.keyboard.press('k');
    await page.keyboard.up('Control');
    return await page.$('.VPLocalSearchBox input') !== null;
  }, true);
  await type(page, '.VPLocalSearchBox input', 'wasm-unsafe-eval');
  await page.waitForSelector('.VPLocalSearchBox .result.selected');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.pathname.endsWith('/guide/bundlers.html'));
  await page.close();
});

for (const dark of [false, true]) {
  test(`the playground works, and axe finds nothing in it, ${dark ? 'dark' : 'light'}`, { timeout: 120_000 }, async () => {
    const page = await browser.newPage();
    /** @type {string[]} */
    const complaints = [];
    page.on('console', (message) => ['error', 'warn'].includes(message.type()) && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.setViewport({ width: 1440, height: 1000 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]);
    await page.goto(server.url('/playground.html'), { waitUntil: 'networkidle0' });
    const frame = (/** @type {string} */ name) => page.waitForFrame((it) => it.url().endsWith(`/playground/${name}.html`));
    const [app, agent] = [await frame('index'), await frame('agent')];
    await agent.waitForSelector('#call:not(:disabled)');
    /** @param {string} name @param {string} params */
    const call = async (name, params) => {
      await agent.select('#capability', name);
      await fill(agent, '#params', params);
      await click(agent, '#call');
    };
    /** @param {import('puppeteer-core').Frame} where @param {string} selector @param {RegExp} text */
    const shows = (where, selector, text) =>
      where.waitForFunction((it, source) => new RegExp(source).test(document.querySelector(it)?.textContent ?? ''), {}, selector, text.source);

    await call('text.words', '{ "text": "one two three" }');
    await shows(agent, '#response', /"words": 3/);
    await call('primes.below', '{ "end": 1000000000000 }');
    await shows(app, '#timeline', /primes\.below: running/);
    await app.waitForFunction(() => document.querySelector('cap-activity')?.shadowRoot?.textContent?.includes('Count primes'));
    await click(agent, '#cancel');
    await shows(agent, '#confirmation', /waiting for the confirmation/);
    await shows(app, '#timeline', /told to stop: The reader pressed Cancel/);
    await shows(agent, '#confirmation', /"stop": "terminated"/);
    await shows(agent, '#response', /"cancelled": true/);
    await shows(app, '#timeline', /primes\.below: cancelled, terminated/);
    await agent.waitForSelector('#call:not(:disabled)');
    await call('deaf.wait', '{}');
    await click(app, 'cap-activity >>> .call.running .stop');
    await shows(agent, '#response', /"stop": "abandoned"/);
    await shows(app, '#timeline', /the work has ended/);
    await agent.waitForSelector('#call:not(:disabled)');
    await call('count.to', '{ "end": 100000 }');
    await app.waitForSelector('cap-activity >>> .call.running progress[value]');
    const found = [];
    for (const one of page.frames()) {
      await one.addScriptTag({ path: axe });
      const { violations } = await one.evaluate(() => /** @type {any} */ (window).axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa'] }));
      for (const { id, nodes } of violations) found.push(`${one.url()}: ${id}: ${nodes.slice(0, 3).map((/** @type {any} */ it) => it.html.slice(0, 160)).join(' | ')}`);
    }
    writeFileSync(join(shots, `playground-at-work${dark ? '-dark' : ''}.png`), await page.screenshot());
    await click(agent, '#cancel');
    await shows(agent, '#response', /"stop": "returned"/);
    await page.close();
    assert.deepEqual(found, []);
    assert.deepEqual(complaints, []);
  });
}
