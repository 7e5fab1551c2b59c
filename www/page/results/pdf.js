/** @import { Data, Shown } from './show.js' */
import { element } from '../dom.js';
import { plural, size } from '../format.js';
import { toBlob } from './bytes.js';
import { saveLink } from './save-link.js';

/**
 * @param {Data} data
 * @returns {Promise<Shown>}
 */
export async function showPdf(data) {
  const blob = await toBlob(data.pdf, 'application/pdf');
  if (!blob) throw new Error('the PDF is neither base64 nor bytes');
  const url = URL.createObjectURL(blob);
  const name = typeof data.filename === 'string' ? data.filename : 'document.pdf';
  const pages = typeof data.pageCount === 'number' ? `${plural(data.pageCount, 'page')}, ` : '';
  const result = element('div', { class: 'result' });
  if (navigator.pdfViewerEnabled) result.append(element('iframe', { class: 'document', src: `${url}#navpanes=0&view=FitH`, title: `PDF, ${name}` }));
  result.append(
    element('p', { class: 'caption' }, `${pages}${size(blob.size)}`, saveLink(url, name)),
  );
  if (!navigator.pdfViewerEnabled) {
    result.append(element('p', { class: 'note' }, 'This browser shows no PDF inside a page; save it to read it.'));
  }
  return { element: result, release: () => URL.revokeObjectURL(url) };
}
