/** The example for Yew, built and served as its README says, except that the two steps of wasm-pack run directly. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { must } from '../../scripts/command.mjs';
import { root, targetDir } from '../../scripts/paths.mjs';
import { setUpWasm } from '../../scripts/setup.mjs';
import { commandsOf, startLine } from '../e2e/examples/readme.mjs';
import { click, reads } from '../e2e/support/hands.mjs';
import { useWorkplace } from './workplace.mjs';

const place = useWorkplace();

test('yew: components offer capabilities, and a person stops a call', { timeout: 400_000 }, async (t) => {
  const example = join(root, 'examples', 'yew');
  const built = join(targetDir, 'yew');
  const target = 'wasm32-unknown-unknown';
  await must('cargo', ['build', '--locked', '--target', target, '--manifest-path', join(example, 'Cargo.toml')], { toStderr: true, env: { CARGO_TARGET_DIR: built } });
  const { wasmBindgen } = await setUpWasm();
  await must(join(wasmBindgen, 'wasm-bindgen'), [join(built, target, 'debug', 'notes.wasm'), '--target', 'web', '--out-dir', join(example, 'pkg'), '--out-name', 'notes'], { quiet: true });
  const [, build, , serve = '', ...more] = commandsOf('yew');
  assert.deepEqual([build, more], ['wasm-pack build --target web', []]);
  const { url } = await startLine(t, serve);
  const page = await place.browser.newPage();
  t.after(() => page.close());
  /** @type {string[]} */
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(error instanceof Error ? error.message : String(error)));
  await page.goto(url);

  await click(page, '#add');
  await page.waitForSelector('#notes li:nth-child(2)');
  await click(page, '#export');
  await page.waitForFunction(() => /^[2-9] %$/.test(document.querySelector('#said')?.textContent ?? ''));
  await click(page, '#stop');
  await reads(page, '#said', 'Stopped: dropped');

  // A handler sees the current state, also for several calls in one turn.
  const counts = await page.evaluate(async () => {
    const abp = /** @type {NonNullable<typeof window.abp>} */ (window.abp);
    await abp.initialize({ agent: { name: 'test', version: '1' }, protocolVersion: '0.1' });
    const first = await abp.call('notes.add', { text: 'a' });
    const second = await abp.call('notes.add', { text: 'b' });
    const more = await Promise.all(['c', 'd', 'e'].map((text) => abp.call('notes.add', { text })));
    return [first, second, ...more].map((it) => it.success && it.data);
  });
  assert.deepEqual(counts, [3, 4, 5, 6, 7]);
  await page.waitForSelector('#notes li:nth-child(7)');
  assert.deepEqual(complaints, []);
});
