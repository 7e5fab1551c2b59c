import { sampleMarkdown } from '../samples/markdown.js';
import { sampleText } from '../samples/text.js';

/**
 * Additions of the page to a capability's schema: the sources of sample data, and sizes for which a
 * cancel is interesting. Values name schema properties by path. A value for a property that the
 * schema does not have is left out.
 * @typedef {object} Bench
 * @property {string} title
 * @property {Record<string, Source>} sources fields that are generated instead of typed
 * @property {Preset[]} presets the first one is chosen at the start
 */

/** @typedef {{ kind: 'text', make: (kilobytes: number) => string } | { kind: 'picture' }} Source */

/**
 * @typedef {object} Preset
 * @property {string} label
 * @property {Record<string, unknown>} values a text source takes kilobytes, a picture `[width, height]`
 */

/** @type {Record<string, Bench>} */
export const WORKBENCH = {
  'convert.markdownToHtml': {
    title: 'Markdown to HTML',
    sources: { markdown: { kind: 'text', make: sampleMarkdown } },
    presets: [
      { label: 'Small', values: { markdown: 6, 'options.sanitize': true } },
      { label: 'Large', values: { markdown: 8_000, 'options.sanitize': true } },
    ],
  },
  'export.pdf': {
    title: 'Document to PDF',
    sources: { markdown: { kind: 'text', make: sampleMarkdown } },
    presets: [
      { label: 'Small', values: { markdown: 6, 'options.pageSize': 'a4', 'options.encoding': 'arraybuffer' } },
      { label: 'Large', values: { markdown: 8_000, 'options.pageSize': 'a4', 'options.encoding': 'arraybuffer' } },
    ],
  },
  'ai.summarize': {
    title: 'Summarise a text',
    sources: { text: { kind: 'text', make: sampleText } },
    presets: [
      { label: 'Small', values: { text: 8, sentences: 3 } },
      { label: 'Large', values: { text: 2_000, sentences: 7 } },
    ],
  },
  'image.process': {
    title: 'Process an image',
    sources: { image: { kind: 'picture' } },
    presets: [
      { label: 'Small', values: picture([960, 640], 480, 2) },
      { label: 'Large', values: picture([6000, 4000], 4800, 12) },
    ],
  },
  'export.archive': {
    title: 'Archive of CSV files',
    sources: {},
    presets: [
      { label: 'Small', values: { megabytes: 1, files: 2 } },
      { label: 'Large', values: { megabytes: 200, files: 8 } },
    ],
  },
  'stop.never': {
    title: 'Will not stop',
    sources: {},
    presets: [
      { label: 'Loop', values: { way: 'loop' } },
      { label: 'Expression', values: { way: 'expression' } },
      { label: 'Hash', values: { way: 'hash' } },
      { label: 'Memory', values: { way: 'allocation' } },
    ],
  },
};

/**
 * @param {[width: number, height: number]} image
 * @param {number} width the width to which the image is resized
 * @param {number} blur
 */
function picture(image, width, blur) {
  return {
    image,
    'operations.resize.width': width,
    'operations.blur': blur,
    'operations.grayscale': false,
    'options.format': 'jpeg',
    'options.encoding': 'arraybuffer',
  };
}

/** @type {Bench} */
export const PLAIN = { title: '', sources: {}, presets: [] };
