/** @import { Call } from '../call-history.js' */
import { element } from '../dom.js';
import { preview } from '../preview.js';
import { showArchive } from './archive.js';
import { showHtml } from './html.js';
import { showImage } from './image.js';
import { showPdf } from './pdf.js';
import { showText } from './text.js';

/**
 * A result on the page, and a function that releases its resources.
 * @typedef {{ element: HTMLElement, release?: () => void }} Shown
 */

/** @typedef {Record<string, unknown>} Data */

/**
 * The kinds of results. Each recognises a result by its shape, not by its capability's name.
 * @type {[wanted: (data: Data) => boolean, show: (data: Data) => Promise<Shown> | Shown][]}
 */
const KINDS = [
  [(data) => data.pdf !== undefined, showPdf],
  [(data) => data.image !== undefined, showImage],
  [(data) => typeof data.downloadUrl === 'string', showArchive],
  [(data) => typeof data.html === 'string', showHtml],
  [(data) => typeof data.summary === 'string', showText],
];

/**
 * @param {Call} call completed
 * @returns {Promise<Shown>}
 */
export async function showResult(call) {
  if (call.released) {
    return { element: note('This result was let go to keep memory bounded. The newest results are kept.') };
  }
  const data = call.response?.data;
  try {
    if (data !== null && typeof data === 'object') {
      const fields = /** @type {Data} */ (data);
      const kind = KINDS.find(([wanted]) => wanted(fields));
      if (kind) return await kind[1](fields);
    }
    return { element: element('pre', { class: 'code', tabindex: 0, 'aria-label': 'Result data' }, preview(data, '  ')) };
  } catch (error) {
    return { element: note(`This result could not be shown: ${error instanceof Error ? error.message : String(error)}`) };
  }
}

/** @param {string} text */
function note(text) {
  return element('p', { class: 'note' }, text);
}
