import { paragraph } from './prose.js';
import { random } from './random.js';

/**
 * A harbour log in plain paragraphs.
 * @param {number} kilobytes
 */
export function sampleText(kilobytes) {
  const source = random(7);
  const paragraphs = [];
  for (let length = 0; length < kilobytes * 1000; ) {
    const next = paragraph(source, source.between(3, 8));
    paragraphs.push(next);
    length += next.length + 2;
  }
  return paragraphs.join('\n\n');
}
