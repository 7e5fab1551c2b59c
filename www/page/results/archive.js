/** @import { Data, Shown } from './show.js' */
import { element } from '../dom.js';
import { plural, size } from '../format.js';
import { saveLink } from './save-link.js';

/**
 * Shows a file that was answered by reference: its link and its details.
 * @param {Data} data
 * @returns {Shown}
 */
export function showArchive(data) {
  const url = new URL(String(data.downloadUrl), location.href);
  // A reference comes from a handler, so `javascript:` and similar URLs must not become a link.
  if (!['blob:', 'http:', 'https:'].includes(url.protocol)) throw new Error(`a link to ${url.protocol} is not offered`);
  const name = typeof data.filename === 'string' ? data.filename : 'archive.zip';
  const facts = [];
  if (typeof data.mimeType === 'string') facts.push(data.mimeType);
  if (typeof data.size === 'number') facts.push(size(data.size));
  if (typeof data.files === 'number') facts.push(plural(data.files, 'file'));
  if (typeof data.rows === 'number') facts.push(plural(data.rows, 'row'));
  if (Number.isFinite(expiry(data.expiresAt))) facts.push(`until ${new Date(expiry(data.expiresAt)).toLocaleTimeString()}`);
  return { element: element('div', { class: 'result' }, element('p', { class: 'caption' }, facts.join(', '), saveLink(url.href, name))) };
}

/** @param {unknown} value */
function expiry(value) {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? Date.parse(value) : Number.NaN;
}
