import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { hasTerminals, runCommand, startCommand } from '../support/command-line.mjs';
import { useDemo } from '../support/demo.mjs';
import { becomes } from '../support/demo-page.mjs';
import { readPdf } from '../support/pdf.mjs';

const demo = useDemo();
const folder = mkdtempSync(join(tmpdir(), 'caphost-cli-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const inFolder = (/** @type {string} */ name) => join(folder, name);

/** Waits until no call runs in the page. */
const idle = () =>
  demo.page.waitForFunction(() => ['running', 'queued'].every((state) => document.querySelector(`#counts [data-state=${state}] dd`)?.textContent === '0'));

test('list shows what the page offers', async () => {
  const { status, out, err } = await runCommand(demo.gateway, ['list']);
  assert.deepEqual([status, err], [0, '']);
  assert.match(out, /^Caphost demo 0\.1\.0 \(caphost-demo\)\n\n/);
  assert.match(out, /^export\.pdf +Exports HTML or Markdown as a paginated PDF/m);

  const { out: json } = await runCommand(demo.gateway, ['list', '--json']);
  const { app, capabilities } = JSON.parse(json);
  assert.equal(app.id, 'caphost-demo');
  const exported = capabilities.find((/** @type {any} */ it) => it.name === 'export.pdf');
  assert.equal(exported.available, true);
  assert.equal(exported.inputSchema.properties.markdown.type, 'string');
});

test('a PDF from parameters in a file is a PDF', async () => {
  writeFileSync(inFolder('params.json'), JSON.stringify({ markdown: '# Tide tables\n\nHigh water at noon.', options: { pageSize: 'a4' } }));
  const path = inFolder('x.pdf');
  const { status, out, err } = await runCommand(demo.gateway, ['call', 'export.pdf', '--params', `@${inFolder('params.json')}`, '--output', path]);
  assert.equal(status, 0, err);
  const file = readFileSync(path);
  assert.equal(out, `Wrote ${path} (${file.length} bytes, application/pdf)\n`);
  assert.equal(readPdf(file).pages, 1);
  assert.deepEqual(readdirSync(folder).sort(), ['params.json', 'x.pdf']);
});

test('an image goes in by standard input and comes out as a file', async () => {
  const image = await demo.page.evaluate(async () => {
    const canvas = new OffscreenCanvas(240, 120);
    /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext('2d')).fillRect(0, 0, 240, 120);
    const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer());
    return btoa(String.fromCharCode(...bytes));
  });
  const input = JSON.stringify({ image, operations: { resize: { width: 120 } }, options: { format: 'png' } });
  const path = inFolder('half.png');
  const { status, out, err } = await runCommand(demo.gateway, ['call', 'image.process', '--params', '-', '--output', path, '--json'], { input });
  assert.equal(status, 0, err);
  const { success, data, output } = JSON.parse(out);
  assert.deepEqual([success, data.width, data.height, data.image], [true, 120, 60, undefined]);
  const file = readFileSync(path);
  assert.deepEqual(output, { path, bytes: file.length, mimeType: 'image/png' });
  assert.equal(file.subarray(1, 4).toString(), 'PNG');
  assert.deepEqual([file.readUInt32BE(16), file.readUInt32BE(20)], [120, 60]);
});

test('the error for a bad parameter names its path, and the error for an unknown capability the known ones', async () => {
  const bad = await runCommand(demo.gateway, ['call', 'export.pdf', '--params', '{"markdown":"x","options":{"pageSize":"a5"}}']);
  assert.equal(bad.status, 1);
  assert.match(bad.err, /^caphost call: Bad parameter options\.pageSize: .*\(INVALID_PARAMS\)\n {2}at: options\.pageSize\n/);
  assert.equal(bad.out, '');

  const unknown = await runCommand(demo.gateway, ['call', 'export.pfd']);
  assert.equal(unknown.status, 1);
  assert.match(unknown.err, /UNKNOWN_CAPABILITY[\s\S]*export\.pdf/);
});

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  test(`${signal} stops the handler in the page, and the confirmation is printed`, { timeout: 60_000 }, async () => {
    const callId = `interrupted-by-${signal}`;
    const call = startCommand(demo.gateway, ['call', 'export.archive', '--params', '{"megabytes":400}', '--call-id', callId]);
    await call.says('export.archive: ');
    await becomes(demo.page, `.call[data-call-id="${callId}"]`, 'running');
    call.signal(signal);
    const { status, out, err } = await call.ended;
    assert.deepEqual([status, out], [130, '']);
    assert.match(err, /\nCancelled, and confirmed by the app; the work has ended: it (saw the flag|took its signal) after \d+ ms\n$/);
    await becomes(demo.page, `.call[data-call-id="${callId}"]`, 'cancelled');
    await idle();
    const runs = JSON.parse((await runCommand(demo.gateway, ['runs', '--json'])).out).runs;
    const run = runs.find((/** @type {any} */ it) => it.callId === callId);
    assert.equal(run.state, 'cancelled');
  });
}

test('a timeout stops the handler in the page and counts as cancelled', { timeout: 60_000 }, async () => {
  const call = ['call', 'export.archive', '--params', '{"megabytes":400}', '--call-id', 'timed-out', '--timeout', '1500ms', '--json'];
  const { status, out } = await runCommand(demo.gateway, call);
  const { metadata, ...document } = JSON.parse(out);
  assert.deepEqual([status, document], [130, { callId: 'timed-out', success: false, cancelled: true }]);
  assert.equal(metadata.stop, 'dropped');
  assert.match(metadata.step, /^(flag|signal)$/);
  assert.ok(metadata.took >= 0, `${metadata.took}`);
  await becomes(demo.page, '.call[data-call-id="timed-out"]', 'cancelled');
  await idle();
});

test('a call is cancelled from another terminal', { timeout: 60_000 }, async () => {
  const call = startCommand(demo.gateway, ['call', 'export.archive', '--params', '{"megabytes":400}', '--call-id', 'from-elsewhere']);
  await call.says('export.archive: ');
  const cancel = await runCommand(demo.gateway, ['cancel', 'from-elsewhere', '--reason', 'wrong quarter']);
  assert.equal(cancel.status, 0, cancel.err);
  assert.match(cancel.out, /^Cancelled, and confirmed by the app: [0-9a-f-]{36}; the work has ended: it (saw the flag|took its signal) after \d+ ms\n$/);
  const { status, err } = await call.ended;
  assert.equal(status, 130, err);
  await becomes(demo.page, '.call[data-call-id="from-elsewhere"]', 'cancelled');
  await idle();
  const { out } = await runCommand(demo.gateway, ['runs']);
  assert.match(out, /export\.archive .* cancelled after .* \(\w+\): "wrong quarter"$/m);
});

test('a person at a terminal sees a bar, and no base64', { skip: !hasTerminals && 'no util-linux script', timeout: 60_000 }, async () => {
  const terminal = true;
  const archive = await runCommand(demo.gateway, ['call', 'export.archive', '--params', '{"megabytes":40}'], { terminal });
  assert.equal(archive.status, 0, archive.out);
  assert.match(archive.out, /export\.archive {2}.*━+╸? *.* \d+ %/u);
  assert.match(archive.out, /"downloadUrl": "http:\/\/127\.0\.0\.1:\d+\/files\/[0-9a-f]{32}"/);

  const pdf = await runCommand(demo.gateway, ['call', 'export.pdf', '--params', '{"markdown":"# Here"}'], { terminal });
  assert.equal(pdf.status, 0, pdf.out);
  assert.match(pdf.out, /"pdf": "JVBERi[\w+/=]+… \(\d+ characters; --output FILE writes what they encode\)"/);
});

test('the commands for the demo on the page about the command line work unchanged', { timeout: 60_000 }, async () => {
  const page = readFileSync(new URL('../../../docs/start/command-line.md', import.meta.url), 'utf8');
  const lines = (/^```text\n(.*?)^```$/ms.exec(page)?.[1] ?? '').trim().split('\n');
  const [html, pdf, never] = await Promise.all(lines.map((line) => {
    const [, ...words] = (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", '').replace('hello.pdf', inFolder('hello.pdf')));
    return runCommand(demo.gateway, words);
  }));
  assert.match(html?.out ?? '', /<h1>Hello<\/h1>/);
  assert.equal(readFileSync(inFolder('hello.pdf')).subarray(0, 4).toString(), '%PDF', pdf?.err);
  assert.equal(never?.status, 130, never?.err);
  await idle();
  const { out } = await runCommand(demo.gateway, ['runs', '--limit', '3']);
  assert.match(out, /stop\.never .* cancelled after .* \(terminated\)/);
});
