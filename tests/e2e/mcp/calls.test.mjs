import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { prose, useDemo } from '../support/demo.mjs';
import { comesTo } from '../support/hands.mjs';
import { largeJobs } from '../support/large-jobs.mjs';
import { connect, kinds, rejection } from './clients.mjs';

const demo = useDemo();

const large = { name: 'export.pdf', arguments: /** @type {any} */ (largeJobs['export.pdf']?.params()) };
/** A job that takes long enough for everything that happens meanwhile. */
const long = { name: 'export.archive', arguments: { megabytes: 400, files: 4 } };
/** A job that takes a second, with progress all the time. */
const summary = { name: 'ai.summarize', arguments: { text: prose(400), sentences: 7 } };
const small = { name: 'export.pdf', arguments: { markdown: '# Small' } };

/** The states of all calls on the page. @returns {Promise<(string | undefined)[]>} */
const states = () => demo.page.$$eval('.call', (cards) => cards.map((card) => /** @type {HTMLElement} */ (card).dataset.state));

/** Waits until the page has this many running calls. @param {number} count */
const running = (count) => demo.page.waitForFunction(
  (wanted) => [...document.querySelectorAll('.call')]
    .filter((card) => ['running', 'queued'].includes(String(/** @type {HTMLElement} */ (card).dataset.state))).length === wanted,
  { timeout: 20_000, polling: 20 },
  count,
);

for (const kind of kinds) {
  describe(kind.name, () => {
    /** @type {Awaited<ReturnType<typeof connect>>} */
    let it;
    before(async () => { it = await connect(kind, demo.gateway); });
    after(async () => {
      await it?.client.close();
      assert.deepEqual(it?.complaints, []);
    });

    // A client may get its result before the page has shown the end of the call.
    beforeEach(() => running(0));

    test('speaks the version it negotiates', () => {
      assert.equal(it.client.getNegotiatedProtocolVersion(), kind.era === 'modern' ? '2026-07-28' : '2025-11-25');
      assert.equal(it.client.getServerVersion()?.name, 'caphost');
    });

    test('lists what the page offers', async () => {
      const { tools } = await it.client.listTools();
      const offered = await demo.page.$$eval('.capability', (all) => all.map((one) => /** @type {HTMLElement} */ (one).dataset.capability));
      assert.deepEqual(tools.map(({ title, name }) => title ?? name).sort(), offered.sort());
      for (const { name, annotations } of tools) {
        assert.match(name, /^[\w-]{1,64}$/);
        assert.deepEqual(annotations, { readOnlyHint: true }, name);
      }
      const pdf = tools.find(({ name }) => name === 'export_pdf');
      assert.equal(pdf?.inputSchema.type, 'object');
      assert.equal(pdf?.outputSchema, undefined, 'a client would show its structured content, and no file');
      assert.equal(tools.find(({ name }) => name === 'convert_markdownToHtml')?.outputSchema?.type, 'object');
    });

    test('calls, and gets a file once', async () => {
      // The client checks the results against what the tools promise.
      await it.client.listTools();
      for (const name of ['export.pdf', 'export_pdf']) {
        const result = await it.client.callTool({ ...small, name });
        const data = JSON.parse(/** @type {any} */ (result.content[0]).text);
        assert.equal(result.isError ?? false, false);
        const file = /** @type {any} */ (result.content[1]).resource;
        assert.equal(Buffer.from(file.blob, 'base64').subarray(0, 5).toString(), '%PDF-');
        assert.equal(file.mimeType, 'application/pdf');
        assert.equal(data.pdf, '#/content/1/resource/blob');
        assert.equal(data.pageCount, 1);
        assert.equal(JSON.stringify(result).split(file.blob).length, 2);
      }
    });

    test('an image is an image, and text is text', async () => {
      await it.client.listTools();
      const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
      const image = await it.client.callTool({ name: 'image.process', arguments: { image: pixel, options: { format: 'png' } } });
      assert.deepEqual([image.content[1]?.type, /** @type {any} */ (image.content[1]).mimeType], ['image', 'image/png']);
      const html = await it.client.callTool({ name: 'convert.markdownToHtml', arguments: { markdown: '*a*' } });
      assert.deepEqual(html.structuredContent, { html: '<p><em>a</em></p>\n' });
      assert.deepEqual(JSON.parse(/** @type {any} */ (html.content[0]).text), html.structuredContent);
    });

    test('a failure is a result, and an unknown tool is an error', async () => {
      await it.client.listTools();
      const failed = await it.client.callTool({ name: 'export.pdf', arguments: {} });
      assert.equal(failed.isError, true);
      assert.match(/** @type {any} */ (failed.content[0]).text, /^(INVALID_PARAMS|MISSING_PARAM): /);
      const error = await rejection(it.client.callTool({ name: 'nope' }));
      assert.equal(error.code, -32602);
    });

    test('progress rises until the result', { timeout: 60_000 }, async () => {
      /** @type {any[]} */
      const infos = [];
      const result = await it.client.callTool(
        summary,
        { onprogress: (info) => infos.push(info) },
      );
      assert.equal(/** @type {any} */ (result.structuredContent).sentences.length, 7);
      assert.ok(infos.length > 5, `${infos.length} notifications`);
      assert.ok(infos.every(({ total, message }) => total === 100 && typeof message === 'string'));
      assert.deepEqual(infos.map(({ progress }) => progress), [...new Set(infos.map(({ progress }) => progress))].sort((a, b) => a - b));
    });

    test('a call aborted before it is sent never starts', async () => {
      const before = (await states()).length;
      await rejection(it.client.callTool(large, { signal: AbortSignal.abort('never mind') }));
      await it.client.callTool(small);
      await demo.page.waitForFunction((known) => document.querySelectorAll('.call').length > known, {}, before);
      assert.equal((await states()).length, before + 1, 'only the second');
    });

    test('a call aborted at once stops', { timeout: 60_000 }, async () => {
      const stop = new AbortController();
      const held = rejection(it.client.callTool(large, { signal: stop.signal }));
      setImmediate(() => stop.abort('at once'));
      assert.match(String(await held), /at once/);
      await running(0);
      await it.client.callTool(small);
    });

    test('a call aborted halfway stops in the page, and the client settles at once', { timeout: 60_000 }, async () => {
      const stop = new AbortController();
      let heard = 0;
      /** @type {Promise<void>} */
      const halfway = new Promise((resolve) => {
        void rejection(it.client.callTool(large, {
          signal: stop.signal,
          onprogress: ({ progress }) => {
            heard += 1;
            if (progress >= 20) {
              stop.abort('enough');
              resolve();
            }
          },
        })).then((error) => assert.match(String(error), /enough/));
      });
      await halfway;
      const known = heard;
      await running(0);
      assert.ok((await states()).includes('cancelled'));
      await it.client.callTool(small);
      assert.equal(heard, known, 'no progress is told of after the abort');
      // Cancels once more, and also cancels calls that are over or never existed.
      for (const requestId of [0, 1, 999, 'x']) {
        await it.client.notification({ method: 'notifications/cancelled', params: { requestId, reason: 'again' } }).catch(() => {});
      }
      stop.abort('again');
      await it.client.callTool(small);
    });

    test('an abort after the end changes nothing', async () => {
      const stop = new AbortController();
      const result = await it.client.callTool(small, { signal: stop.signal });
      stop.abort('too late');
      assert.equal(JSON.parse(/** @type {any} */ (result.content[0]).text).pageCount, 1);
      await it.client.callTool(small);
    });

    test('of two calls only the aborted one stops', { timeout: 60_000 }, async () => {
      const stop = new AbortController();
      /** @type {Promise<any>} */
      let one = Promise.resolve();
      /** @type {Promise<any>} */
      let two = Promise.resolve();
      // The page may show the calls after they have begun, and the second call is soon done.
      await Promise.all([
        new Promise((resolve) => { one = rejection(it.client.callTool(long, { signal: stop.signal, onprogress: resolve })); }),
        new Promise((resolve) => { two = it.client.callTool(summary, { timeout: 50_000, onprogress: resolve }); }),
      ]);
      stop.abort('only this');
      assert.match(String(await one), /only this/);
      assert.equal((await two).isError ?? false, false);
    });

    test('a call that is cancelled through the cancellation API is answered with -32800', { timeout: 60_000 }, async () => {
      const held = rejection(it.client.callTool(long));
      await running(1);
      /** @type {any} */
      let run;
      // The page may still show the end of another call, or the gateway may still wait for it.
      await comesTo(async () => {
        const { runs } = await (await fetch(`${demo.gateway.url}/api/runs`)).json();
        const [found, ...more] = runs.filter((/** @type {any} */ one) => one.state === 'running');
        run = found;
        return [run?.capability, more.length];
      }, [long.name, 0]);
      assert.equal(run.dialect, 'mcp');
      const answer = await fetch(`${demo.gateway.url}/cancellation/cancel`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ requestId: run.runId, reason: 'operator' }),
      });
      assert.equal(answer.status, 200);
      const error = await held;
      assert.equal(error.code, -32800);
      assert.equal(error.message.replace(/^MCP error -32800: /, ''), 'Tool execution cancelled: export.archive');
      const { step, took } = error.data;
      assert.match(step, /^(flag|signal)$/);
      const _meta = { 'caphost/stop': 'dropped', 'caphost/step': step, 'caphost/took': took };
      assert.deepEqual(error.data, { requestId: run.dialectId, partial: false, stop: 'dropped', step, took, _meta });
      await running(0);
    });

    test('closing the client in the middle of a call stops it in the page', { timeout: 60_000 }, async () => {
      const leaving = await connect(kind, demo.gateway);
      const held = rejection(leaving.client.callTool(long));
      await running(1).finally(() => leaving.client.close());
      await held;
      await running(0);
      // If the client was about to send a request when it closed, the client has aborted that request
      // itself.
      assert.deepEqual(leaving.complaints.filter((it) => !it.startsWith('AbortError')), []);
    });
  });
}
