/** @import { Field } from './field.js' */
/** @import { Schema } from '../types/protocol.js' */
import { element, setText } from '../dom.js';
import { size } from '../format.js';
import { drawPicture } from '../samples/picture.js';
import { labelled, titleOf } from './field.js';

/**
 * An image: drawn on a canvas in the chosen size, or a file that the user chooses. Its bytes are
 * made when the form is sent, so that a large picture costs nothing before.
 * @param {string} name
 * @param {Schema} schema
 * @returns {Field}
 */
export function pictureSource(name, schema) {
  const canvas = element('canvas', { class: 'thumbnail', role: 'img', 'aria-label': 'Drawn sample: a harbour at dusk' });
  const file = element('input', { type: 'file', accept: 'image/png,image/jpeg,image/webp' });
  const width = element('input', { type: 'number', min: 16, max: 12_000, step: 1, required: true, inputmode: 'numeric' });
  const height = element('input', { type: 'number', min: 16, max: 12_000, step: 1, required: true, inputmode: 'numeric' });
  const state = element('p', { class: 'hint', role: 'status' });

  const describe = () => {
    const chosen = file.files?.[0];
    canvas.hidden = chosen !== undefined;
    for (const input of [width, height]) input.disabled = chosen !== undefined;
    const pixels = (width.valueAsNumber || 0) * (height.valueAsNumber || 0);
    setText(state, chosen ? `${chosen.name}, ${size(chosen.size)}` : `Drawn when called: ${(pixels / 1e6).toFixed(1)} megapixels, as JPEG.`);
  };
  for (const input of [width, height, file]) input.addEventListener('change', describe);

  const measures = element('div', { class: 'pair' }, labelled('Drawn width, px', width), labelled('Drawn height, px', height));
  const box = element('fieldset', {}, element('legend', {}, titleOf(name, schema)));
  box.append(canvas, measures, labelled('Or your own file', file), state);
  drawPicture(canvas, 640, 427);
  return {
    element: box,
    read: async () => {
      const chosen = file.files?.[0];
      return chosen ? chosen.arrayBuffer() : drawn(width.valueAsNumber, height.valueAsNumber);
    },
    set: (_, value) => {
      if (!Array.isArray(value)) return;
      file.value = '';
      width.value = String(value[0]);
      height.value = String(value[1]);
      describe();
    },
  };
}

/**
 * @param {number} width
 * @param {number} height
 * @returns {Promise<ArrayBuffer>}
 */
async function drawn(width, height) {
  const canvas = document.createElement('canvas');
  drawPicture(canvas, width, height);
  /** @type {Blob | null} */
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.92));
  if (!blob) throw new Error(`this browser could not draw ${width} × ${height} pixels`);
  return blob.arrayBuffer();
}
