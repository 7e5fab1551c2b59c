/** The example in TypeScript: its types, its tests in Node, and its pages in Vite, in development and built. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../scripts/paths.mjs';
import { click } from '../e2e/support/hands.mjs';
import { first, useExample } from './as-a-reader.mjs';
import { openWatched, useWorkplace } from './workplace.mjs';

const place = useWorkplace();
const example = useExample('typescript');

test('its README has the commands of this test, and no others', () => {
  assert.deepEqual(example.commands, [...first('typescript'), 'npm run dev', 'npm run build && npm run preview', 'npm test', 'npm run check']);
});

test('its types are right in a strict project', { timeout: 120_000 }, async () => {
  await example.run('npm run check');
});

test('its tests pass in Node', { timeout: 120_000 }, async () => {
  assert.match(await example.run('npm test'), /^. pass 3$/m);
});

/** @param {import('node:test').TestContext} t @param {string} url */
async function works(t, url) {
  const { page, complaints } = await openWatched(place, t, url);
  const shows = (/** @type {RegExp} */ text) => page.waitForFunction((source) => new RegExp(source).test(document.querySelector('#said')?.textContent ?? ''), { polling: 50 }, text.source);
  await shows(/^3 words, the longest is three$/);
  await click(page, '#start');
  await page.waitForFunction(() => Number(/** @type {any} */ (document.querySelector('#bar')).value) > 0, { polling: 20 });
  await click(page, '#stop');
  // The pages are isolated, so the handler sees the flag and ends by itself.
  await shows(/^Stopped: returned$/);
  const activity = page.frames().find((frame) => frame.url().endsWith('/app.html'));
  await activity?.waitForSelector('cap-activity >>> .call.cancelled');
  assert.deepEqual(complaints, []);
}

test('in development the page calls both capabilities, and stops the one in a worker', { timeout: 120_000 }, async (t) => {
  await works(t, await example.start(t, 'npm run dev'));
});

test('built, it works as well', { timeout: 120_000 }, async (t) => {
  await works(t, await example.start(t, 'npm run build && npm run preview'));
});

test('the example has the versions that are tested', () => {
  const versions = (/** @type {string} */ path) => JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
  const tested = { ...versions('.').devDependencies, ...versions('tests/bundlers').devDependencies };
  const { dependencies, devDependencies } = versions('examples/typescript');
  for (const [wanted, version] of Object.entries({ ...dependencies, ...devDependencies })) if (wanted !== 'caphost') assert.equal(version, tested[wanted], wanted);
});
