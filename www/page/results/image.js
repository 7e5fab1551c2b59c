/** @import { Data, Shown } from './show.js' */
import { element } from '../dom.js';
import { size } from '../format.js';
import { toBlob } from './bytes.js';
import { saveLink } from './save-link.js';

const TYPES = /^image\/(?:png|jpeg|webp|gif|bmp)$/;

/**
 * @param {Data} data
 * @returns {Promise<Shown>}
 */
export async function showImage(data) {
  const type = typeof data.mimeType === 'string' && TYPES.test(data.mimeType) ? data.mimeType : 'image/png';
  const blob = await toBlob(data.image, type);
  if (!blob) throw new Error('the image is neither base64 nor bytes');
  const url = URL.createObjectURL(blob);
  const measures = typeof data.width === 'number' && typeof data.height === 'number' ? `${data.width} × ${data.height}, ` : '';
  const name = typeof data.filename === 'string' ? data.filename : `image.${type.slice('image/'.length)}`;
  const picture = element('img', { class: 'picture', src: url, alt: 'The processed image' });
  const caption = element('p', { class: 'caption' }, `${measures}${type}, ${size(blob.size)}`, saveLink(url, name));
  return { element: element('div', { class: 'result' }, picture, caption), release: () => URL.revokeObjectURL(url) };
}
