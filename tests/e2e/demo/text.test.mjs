import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prose, useDemo } from '../support/demo.mjs';

const demo = useDemo();

/** @param {string} name @param {object} params */
async function dataOf(name, params) {
  const response = await demo.agent.call(name, params);
  assert.equal(response.success, true, JSON.stringify(response.error));
  return response.data;
}

test('convert.markdownToHtml writes headings, emphasis, tables and task lists', async () => {
  const { html } = await dataOf('convert.markdownToHtml', {
    markdown: '# Tides\n\n*High* and **low**.\n\n| a | b |\n|--:|---|\n| 1 | 2 |\n\n- [x] done\n',
  });
  const page = await demo.page.evaluate((source) => {
    const body = new DOMParser().parseFromString(source, 'text/html').body;
    const text = (/** @type {string} */ selector) => body.querySelector(selector)?.textContent;
    return [text('h1'), text('em'), text('strong'), text('th:nth-child(2)'), text('td'), body.querySelector('li input:checked') !== null];
  }, html);
  assert.deepEqual(page, ['Tides', 'High', 'low', 'b', '1', true]);
});

const attacks = [
  '<script>globalThis.attacked = 1</script>',
  '<img src="x" onerror="globalThis.attacked = 2">',
  '[link](javascript:globalThis.attacked=3)',
  '[link](<java\nscript:globalThis.attacked=3>)',
  '<a href="&#106;avascript:globalThis.attacked=4">a</a>',
  '<svg onload="globalThis.attacked = 5"><script>globalThis.attacked = 5</script></svg>',
  '<iframe srcdoc="<script>parent.attacked = 6</script>"></iframe>',
  '<form action="https://elsewhere.example"><input name="a"></form>',
  '<style>@import "https://elsewhere.example/a.css";</style>',
  '<math><mtext></p><style><img src=x onerror="globalThis.attacked=7"></style></mtext></math>',
];

for (const attack of attacks) {
  test(`convert.markdownToHtml sanitises ${attack.slice(0, 40)}`, async () => {
    const { html } = await dataOf('convert.markdownToHtml', { markdown: `before\n\n${attack}\n\nafter` });
    const found = await demo.page.evaluate((source) => {
      const { body } = new DOMParser().parseFromString(source, 'text/html');
      const unsafe = [...body.querySelectorAll('script, style, iframe, object, embed, svg, math, form, link, meta, base')].map((it) => it.localName);
      for (const element of body.querySelectorAll('*')) {
        for (const { name, value } of element.attributes) {
          if (name.startsWith('on') || /^\s*(?:javascript|data|vbscript):/i.test(value)) unsafe.push(`${name}=${value}`);
        }
      }
      return { unsafe, text: body.textContent };
    }, html);
    assert.deepEqual(found.unsafe, []);
    assert.match(found.text ?? '', /before[^]*after/);
  });
}

test('convert.markdownToHtml leaves HTML alone when told to', async () => {
  const { html } = await dataOf('convert.markdownToHtml', { markdown: '<div onclick="x">a</div>', options: { sanitize: false } });
  assert.match(html, /onclick/);
});

test('ai.summarize chooses sentences of the text, in its order', async () => {
  const text = prose(40);
  const { summary, sentences, sentenceCount, wordCount } = await dataOf('ai.summarize', { text, sentences: 4 });
  assert.equal(sentences.length, 4);
  assert.equal(summary, sentences.map((/** @type {any} */ it) => it.text).join(' '));
  for (const [i, { text: sentence, index }] of sentences.entries()) {
    assert.ok(text.includes(sentence));
    if (i > 0) assert.ok(index > sentences[i - 1].index);
  }
  assert.equal(sentenceCount, text.split('. ').length);
  assert.equal(wordCount, text.split(/\s+/).length);
});

test('ai.summarize prefers the main subject of a text to side remarks', async () => {
  const text = 'The lighthouse keeper lights the lamp of the lighthouse each evening. I had toast. '
    + 'Ships see the lamp of the lighthouse from far away. It rained. The keeper cleans the lamp of the lighthouse each morning.';
  const { summary } = await dataOf('ai.summarize', { text, sentences: 2 });
  assert.doesNotMatch(summary, /toast|rained/);
});

test('ai.summarize of an empty text is empty, of a short one the whole', async () => {
  assert.equal((await dataOf('ai.summarize', { text: '' })).summary, '');
  assert.equal((await dataOf('ai.summarize', { text: 'One. Two.', sentences: 9 })).summary, 'One. Two.');
});
