import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useDemo } from '../support/demo.mjs';

const demo = useDemo();

/** Capability, parameters, code, and the path in the details if the schema check found the error. @type {[string, object | undefined, string, string?][]} */
const bad = [
  ['convert.markdownToHtml', undefined, 'MISSING_PARAM', 'markdown'],
  ['convert.markdownToHtml', {}, 'MISSING_PARAM', 'markdown'],
  ['convert.markdownToHtml', { markdown: 3 }, 'INVALID_TYPE', 'markdown'],
  ['convert.markdownToHtml', { markdown: null }, 'INVALID_TYPE', 'markdown'],
  ['convert.markdownToHtml', { markdown: 'a', options: { sanitize: 'yes' } }, 'INVALID_TYPE', 'options.sanitize'],
  ['convert.markdownToHtml', { markdown: 'a', options: { sanitise: true } }, 'INVALID_PARAMS', 'options.sanitise'],
  ['export.pdf', {}, 'MISSING_PARAM', 'markdown'],
  ['export.pdf', { html: 3 }, 'INVALID_TYPE', 'html'],
  ['export.pdf', { markdown: 'a', options: { pageSize: 'a3' } }, 'INVALID_PARAMS', 'options.pageSize'],
  ['export.pdf', { markdown: 'a', options: { encoding: 'hex' } }, 'INVALID_PARAMS', 'options.encoding'],
  ['export.pdf', { markdown: 'a', html: 'b' }, 'INVALID_PARAMS'],
  ['ai.summarize', {}, 'MISSING_PARAM', 'text'],
  ['ai.summarize', { text: ['a'] }, 'INVALID_TYPE', 'text'],
  ['ai.summarize', { text: 'a', sentences: 'three' }, 'INVALID_TYPE', 'sentences'],
  ['ai.summarize', { text: 'a', sentences: 0 }, 'INVALID_PARAMS', 'sentences'],
  ['ai.summarize', { text: 'a', sentences: 1001 }, 'INVALID_PARAMS', 'sentences'],
  ['image.process', {}, 'MISSING_PARAM', 'image'],
  ['image.process', { image: 5 }, 'INVALID_TYPE', 'image'],
  ['image.process', { image: 'aGVsbG8=', operations: { grayscale: 1 } }, 'INVALID_TYPE', 'operations.grayscale'],
  ['image.process', { image: 'aGVsbG8=', operations: { resize: { width: 0 } } }, 'INVALID_PARAMS', 'operations.resize.width'],
  ['image.process', { image: 'aGVsbG8=', options: { format: 'gif' } }, 'INVALID_PARAMS', 'options.format'],
  ['image.process', { image: '%%%' }, 'INVALID_PARAMS'],
  ['image.process', { image: 'aGVsbG8=' }, 'INVALID_PARAMS'],
  ['export.archive', { rows: 'a' }, 'INVALID_TYPE', 'rows'],
  ['export.archive', { files: 0 }, 'INVALID_PARAMS', 'files'],
  ['export.archive', { megabytes: 501 }, 'INVALID_PARAMS', 'megabytes'],
  ['export.archive', { rows: 1, megabytes: 1 }, 'INVALID_PARAMS', ''],
  ['export.archive', { rows: 1, colour: 'red' }, 'INVALID_PARAMS', 'colour'],
];

for (const [name, params, code, path] of bad) {
  test(`${name} refuses ${JSON.stringify(params)} with ${code}`, async () => {
    const response = await demo.agent.call(name, params);
    assert.equal(response.success, false);
    assert.ok(!('cancelled' in response) && !('data' in response));
    const { error } = response;
    assert.equal(error?.code, code, JSON.stringify(error));
    assert.equal(error?.retryable, false);
    assert.ok(error?.message);
    assert.equal(/** @type {any} */ (error)?.details?.path, path);
  });
}

test('an unknown capability is refused, and the page goes on', async () => {
  assert.equal((await demo.agent.call('export.docx', {})).error?.code, 'UNKNOWN_CAPABILITY');
  assert.equal((await demo.agent.call('convert.markdownToHtml', { markdown: 'on' })).success, true);
});
