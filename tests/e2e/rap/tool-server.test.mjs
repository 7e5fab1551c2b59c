import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { markdown, prose, useDemo } from '../support/demo.mjs';
import { becomes, reaches } from '../support/demo-page.mjs';
import { readPdf } from '../support/pdf.mjs';
import { startRapRuntime } from '../support/rap-runtime.mjs';

const demo = useDemo();

describe('the demo as a RAP tool server', () => {
  /** @type {Awaited<ReturnType<typeof startRapRuntime>>} */
  let runtime;
  before(async () => {
    runtime = await startRapRuntime(`${demo.gateway.url}/rap/caphost-demo`);
  });
  after(() => runtime?.stop());

  /** The card of the newest call of this capability on the page. @param {string} capability */
  async function cardOf(capability) {
    const found = await demo.page.waitForFunction(
      (name) => [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.call[data-state=running]'))]
        .find((card) => card.innerText.includes(name))?.dataset.callId,
      {},
      capability,
    );
    return `.call[data-call-id="${await found.jsonValue()}"]`;
  }

  test('the capabilities of the page are tools', async () => {
    const manifest = await runtime.manifest();
    assert.equal(manifest.name, 'caphost-demo');
    assert.equal(manifest.endpoint, `${demo.gateway.url}/rap/caphost-demo/invoke`);
    const tools = new Map(manifest.tools.map((/** @type {any} */ tool) => [tool.name, tool]));
    assert.deepEqual([...tools.keys()].sort(), ['ai_summarize', 'convert_markdownToHtml', 'export_archive', 'export_pdf', 'image_process', 'stop_never']);
    for (const tool of tools.values()) {
      assert.match(tool.name, /^[A-Za-z0-9_-]{1,128}$/);
      assert.equal(tool.inputSchema.type, 'object');
      assert.ok(tool.description.length > 0);
    }
    // The only app is also served at the root.
    const root = await fetch(`${demo.gateway.url}/.well-known/rap-toolset`);
    assert.equal((await root.json()).endpoint, `${demo.gateway.url}/invoke`);
  });

  test('a PDF file arrives whole', { timeout: 60_000 }, async () => {
    const { result } = await runtime.invoke('export_pdf', { markdown: markdown(20) }, { thread: 'pdf', id: 'call_1' });
    const { type, group_id, id, text, content } = await result;
    assert.deepEqual({ type, group_id, id, text }, { type: 'tool_result', group_id: 'pdf', id: 'call_1', text: undefined });
    const [about, data] = (content ?? []).map((item) => (item.type === 'text' ? item.text : ''));
    const description = JSON.parse(about ?? '');
    const file = Buffer.from(data ?? '', 'base64');
    assert.deepEqual([description.mimeType, description.size], ['application/pdf', file.length]);
    assert.equal(readPdf(file).pages, description.pageCount);
  });

  test('a picture arrives as an image', { timeout: 60_000 }, async () => {
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const args = { image: pixel, operations: { resize: { width: 8 } }, options: { format: 'png' } };
    const { result } = await runtime.invoke('image_process', args, { thread: 'picture', id: 'call_1' });
    const { content } = await result;
    const [about, image] = content ?? [];
    assert.ok(about?.type === 'text' && image?.type === 'image', JSON.stringify(content));
    assert.equal(JSON.parse(about.text).width, 8);
    assert.equal(image.mediaType, 'image/png');
    assert.equal(Buffer.from(image.data, 'base64').subarray(1, 4).toString(), 'PNG');
  });

  test('parameters the page refuses are an error result', async () => {
    const { result } = await runtime.invoke('ai_summarize', { sentences: 3 }, { thread: 'bad', id: 'call_1' });
    assert.match((await result).text ?? '', /^Error: .*\((INVALID_PARAMS|MISSING_PARAM)\)/);
  });

  test('a long call is cancelled: the page stops, and the result says so', { timeout: 60_000 }, async () => {
    const call = { thread: 'long', id: 'call_1' };
    const { result } = await runtime.invoke('export_archive', { megabytes: 400, files: 4 }, call);
    const card = await cardOf('export.archive');
    await reaches(demo.page, card, 2);
    await runtime.cancel({ thread: 'another', id: 'call_1' });
    await runtime.cancel({ thread: 'long', id: 'call_2' });
    await reaches(demo.page, card, 4);
    await runtime.cancel(call);
    assert.equal((await result).text, 'Error: Tool call cancelled: The runtime has cancelled the tool call. The work has ended (dropped).');
    await becomes(demo.page, card, 'cancelled');
    await runtime.cancel(call);
    // The processor time is free for other calls.
    const next = await runtime.invoke('ai_summarize', { text: prose(2), sentences: 1 }, { thread: 'long', id: 'call_3' });
    assert.ok(JSON.parse((await next.result).text ?? '').summary.length > 0);
  });

  test('a closed thread ends its calls', { timeout: 60_000 }, async () => {
    const kept = await runtime.invoke('export_pdf', { markdown: markdown(2_000) }, { thread: 'kept', id: 'call_1' });
    const { result } = await runtime.invoke('export_archive', { megabytes: 400, files: 4 }, { thread: 'closed', id: 'call_1' });
    const card = await cardOf('export.archive');
    await runtime.close('closed');
    await runtime.close('closed');
    assert.equal((await result).text, 'Error: Tool call cancelled: The thread is closed. The work has ended (dropped).');
    await becomes(demo.page, card, 'cancelled');
    assert.equal((await kept.result).content?.length, 2);
  });

  test('a page that crashes leaves the outcome unknown', { timeout: 60_000 }, async () => {
    const { result } = await runtime.invoke('export_archive', { megabytes: 400, files: 4 }, { thread: 'gone', id: 'call_1' });
    await cardOf('export.archive');
    // Before a page closes, it reports that it has ended its workers.
    const client = await demo.page.createCDPSession();
    void client.send('Page.crash').catch(() => {});
    assert.match((await result).text ?? '', /^Error: .*\(DISCONNECTED\)$/);
  });

  test('every invocation had exactly one result', () => {
    const ids = runtime.results.map(({ group_id, id }) => `${group_id} ${id}`);
    assert.deepEqual(ids.toSorted(), [...new Set(ids)].toSorted());
    assert.equal(ids.length, 8);
  });
});
