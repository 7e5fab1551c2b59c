/** The example in TypeScript: its types, its tests in Node, and its pages in Vite, in development and built. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { run } from '../../scripts/command.mjs';
import { root } from '../../scripts/paths.mjs';
import { click } from '../e2e/support/hands.mjs';
import { copyExample, here, openWatched, useWorkplace } from './workplace.mjs';

const place = useWorkplace();
let folder = '';

before(() => {
  folder = copyExample(place, 'typescript');
});

/** @param {string} tool @param {string[]} args */
async function succeeds(tool, ...args) {
  const { code, output } = await run(process.execPath, [tool, ...args], { cwd: folder, env: { NODE_TEST_CONTEXT: undefined }, quiet: true, timeoutMs: 120_000 });
  assert.equal(code, 0, output);
  return output;
}

test('its types are right in a strict project', { timeout: 120_000 }, async () => {
  await succeeds(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '--noEmit');
});

test('its tests pass in Node', { timeout: 120_000 }, async () => {
  const output = await succeeds(join(here, 'node_modules', 'tsx', 'dist', 'cli.mjs'), '--test', '--test-reporter=tap', join('test', 'words.test.ts'));
  assert.match(output, /^# pass 3$/m);
});

/** @param {import('node:test').TestContext} t @param {string} url */
async function works(t, url) {
  const { page, complaints } = await openWatched(place, t, url);
  const shows = (/** @type {RegExp} */ text) => page.waitForFunction((source) => new RegExp(source).test(document.querySelector('#said')?.textContent ?? ''), { polling: 50 }, text.source);
  await shows(/^3 words, the longest is three$/);
  await click(page, '#start');
  await page.waitForFunction(() => Number(/** @type {any} */ (document.querySelector('#bar')).value) > 0, { polling: 20 });
  await click(page, '#stop');
  // The pages are isolated: the handler has seen the flag, and ended by itself.
  await shows(/^Stopped: returned$/);
  const activity = page.frames().find((frame) => frame.url().endsWith('/app.html'));
  await activity?.waitForSelector('cap-activity >>> .call.cancelled');
  assert.deepEqual(complaints, []);
}

test('in development the page calls both capabilities, and stops the one in a worker', { timeout: 120_000 }, async (t) => {
  const { createServer } = await import(/** @type {string} */ ('vite'));
  const server = await createServer({ root: folder, logLevel: 'error', server: { host: '127.0.0.1', port: 0, fs: { allow: [root] } }, cacheDir: join(folder, '.vite') });
  t.after(() => server.close());
  await server.listen();
  await works(t, server.resolvedUrls.local[0]);
});

test('built, it works as well', { timeout: 120_000 }, async (t) => {
  const { build, preview } = await import(/** @type {string} */ ('vite'));
  await build({ root: folder, logLevel: 'error' });
  const server = await preview({ root: folder, logLevel: 'error', preview: { host: '127.0.0.1', port: 0 } });
  t.after(() => server.close());
  await works(t, server.resolvedUrls.local[0]);
});

test('the example has the versions that are tested', () => {
  const versions = (/** @type {string} */ path) => JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
  const tested = { ...versions('.').devDependencies, ...versions('tests/bundlers').devDependencies };
  const { dependencies, devDependencies } = versions('examples/typescript');
  for (const [wanted, version] of Object.entries({ ...dependencies, ...devDependencies })) if (wanted !== 'caphost') assert.equal(version, tested[wanted], wanted);
});
