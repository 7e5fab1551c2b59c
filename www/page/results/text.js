/** @import { Data, Shown } from './show.js' */
import { element } from '../dom.js';
import { plural } from '../format.js';

const MAX_SENTENCES = 200;
const MAX_LENGTH = 100_000;

/**
 * Shows a summary, with one item per sentence if the result lists its sentences.
 * @param {Data} data
 * @returns {Shown}
 */
export function showText(data) {
  const sentences = (Array.isArray(data.sentences) ? data.sentences : []).slice(0, MAX_SENTENCES).flatMap(textOf);
  const body =
    sentences.length > 1
      ? element('ol', { class: 'summary' }, ...sentences.map((sentence) => element('li', {}, sentence)))
      : element('blockquote', { class: 'summary' }, String(data.summary).slice(0, MAX_LENGTH));
  const facts = [];
  if (typeof data.sentenceCount === 'number') facts.push(plural(data.sentenceCount, 'sentence'));
  if (typeof data.wordCount === 'number') facts.push(plural(data.wordCount, 'word'));
  const caption = facts.length > 0 ? [element('p', { class: 'caption' }, `From ${facts.join(', ')}`)] : [];
  return { element: element('div', { class: 'result' }, body, ...caption) };
}

/**
 * @param {unknown} sentence a string, or an object with a `text`
 * @returns {string[]}
 */
function textOf(sentence) {
  if (typeof sentence === 'string') return [sentence];
  const text = sentence !== null && typeof sentence === 'object' && 'text' in sentence ? sentence.text : undefined;
  return typeof text === 'string' ? [text.slice(0, MAX_LENGTH)] : [];
}
