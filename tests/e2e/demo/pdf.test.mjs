import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentInPage, markdown, useDemo } from '../support/demo.mjs';
import { pdfText, readPdf } from '../support/pdf.mjs';

const demo = useDemo();

/** @param {object} params */
async function exported(params) {
  const { success, data, error } = await demo.agent.call('export.pdf', params);
  assert.equal(success, true, JSON.stringify(error));
  assert.equal(data.mimeType, 'application/pdf');
  assert.equal(data.encoding, 'base64');
  const file = Buffer.from(data.pdf, 'base64');
  assert.equal(data.size, file.length);
  return { ...data, file };
}

/** Paper sizes in points. */
const papers = { letter: [612, 792], a4: [595, 842], legal: [612, 1008] };

for (const [pageSize, size] of Object.entries(papers)) {
  for (const [from, params] of Object.entries({
    markdown: { markdown: '# Tide tables\n\nHigh water at *noon*, œuvre and naïveté.\n\n| Port | Depth |\n|--|--|\n| Kraków | 4 m |' },
    html: { html: '<title>Tide tables</title><h1>Tide tables</h1><p>High water at <em>noon</em>, œuvre and naïveté.</p><table><tr><td>Kraków</td><td>4&nbsp;m</td></tr></table>' },
  })) {
    test(`export.pdf on ${pageSize} from ${from}`, async () => {
      const { file, pageCount, filename } = await exported({ ...params, options: { pageSize } });
      const pdf = readPdf(file);
      assert.deepEqual(pdf.size.map(Math.round), size);
      assert.equal(pdf.pages, 1);
      assert.equal(pageCount, 1);
      assert.match(filename, /tide.*\.pdf$/i);
      const text = pdfText(file);
      for (const word of ['Tide tables', 'High water at noon, œuvre and naïveté.', 'Kraków']) assert.ok(text.includes(word), text);
    });
  }
}

test('export.pdf of a long document counts its pages, and none of its sections is lost', async () => {
  const source = markdown(300);
  const { file, pageCount } = await exported({ markdown: source });
  const pdf = readPdf(file);
  assert.ok(pageCount > 50, `${pageCount} pages`);
  assert.equal(pdf.pages, pageCount);
  const days = [...pdfText(file).matchAll(/^\f?Day (\d+)$/gm)].map(([, day]) => day);
  assert.deepEqual(days, [...source.matchAll(/^## Day (\d+)$/gm)].map(([, day]) => day));
});

test('export.pdf takes its title from the options', async () => {
  const { filename, file } = await exported({ html: '<p>Text</p>', options: { title: 'Cargo list' } });
  assert.match(filename, /cargo.list\.pdf/i);
  assert.match(file.toString('latin1'), /\/Title \(Cargo list\)/);
});

test('export.pdf hands an agent in the page an ArrayBuffer, and writes base64 where none can pass', async () => {
  await agentInPage(demo.page);
  const inPage = await demo.page.evaluate(async () => {
    const { success, data } = await /** @type {any} */ (globalThis).agent.call('export.pdf', { markdown: '# Here', options: { encoding: 'arraybuffer' } });
    const isBuffer = data.pdf instanceof ArrayBuffer;
    return { success, isBuffer, size: data.size, bytes: [...new Uint8Array(data.pdf)], encoding: data.encoding };
  });
  assert.equal(inPage.success && inPage.isBuffer, true);
  assert.equal(inPage.encoding, 'arraybuffer');
  assert.equal(inPage.size, inPage.bytes.length);
  assert.equal(readPdf(Buffer.from(inPage.bytes)).pages, 1);

  const { success, data } = await demo.agent.call('export.pdf', { markdown: '# There', options: { encoding: 'arraybuffer' } });
  assert.equal(success, true);
  assert.equal(data.pdf.encoding, 'base64');
  assert.equal(readPdf(Buffer.from(data.pdf.content, 'base64')).pages, 1);
});
