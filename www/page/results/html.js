/** @import { Data, Shown } from './show.js' */
import { element } from '../dom.js';
import { count } from '../format.js';

const MAX_RENDERED = 500_000;
const POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'";
const STYLE =
  ':root{color-scheme:light dark}body{font:16px/1.6 system-ui,sans-serif;margin:1.25rem;max-width:70ch}' +
  'table{border-collapse:collapse}td,th{border:1px solid #8886;padding:.25em .6em;text-align:left}' +
  'pre{overflow:auto;padding:.75em;background:#8882}blockquote{margin-inline:0;padding-inline-start:1em;border-inline-start:3px solid #8886}';

/**
 * Shows the document in a frame without scripts, forms, navigation or network.
 * @param {Data} data
 * @returns {Shown}
 */
export function showHtml(data) {
  const html = String(data.html);
  const shown = html.slice(0, MAX_RENDERED);
  const frame = element('iframe', { class: 'document', sandbox: '', title: 'Converted document' });
  frame.srcdoc = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${POLICY}"><style>${STYLE}</style>${shown}`;
  const cut = shown.length < html.length ? `; the frame shows the first ${count(shown.length)}` : '';
  const caption = element('p', { class: 'caption' }, `${count(html.length)} characters of HTML${cut}`);
  return { element: element('div', { class: 'result' }, frame, caption) };
}
