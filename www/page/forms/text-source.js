/** @import { Field } from './field.js' */
/** @import { Schema } from '../types/protocol.js' */
import { element, setText } from '../dom.js';
import { count } from '../format.js';
import { labelled, titleOf } from './field.js';

const EDITABLE = 40_000;
const SHOWN = 1_500;

/**
 * A long text, either generated in the chosen length or typed. The textarea shows only the
 * beginning of a text of megabytes, because it would lay out all of the text.
 * @param {string} name
 * @param {Schema} schema
 * @param {(kilobytes: number) => string} make
 * @returns {Field}
 */
export function textSource(name, schema, make) {
  const title = titleOf(name, schema);
  // A sample ends with its paragraph, a little beyond the chosen length.
  const longest = Math.max(1, Math.floor((schema.maxLength ?? 60_000_000) / 1000) - 10);
  const area = element('textarea', { name, rows: 7, spellcheck: 'false' });
  const length = element('input', { type: 'number', min: 1, max: longest, step: 1, required: true, inputmode: 'numeric' });
  const state = element('p', { class: 'hint', role: 'status' });
  /** The whole text while the textarea shows only its beginning. @type {string | null} */
  let whole = null;

  const generate = () => {
    const kilobytes = Math.min(longest, Math.max(1, Math.round(length.valueAsNumber) || 1));
    const made = make(kilobytes);
    whole = made.length > EDITABLE ? made : null;
    area.readOnly = whole !== null;
    area.value = whole ? `${made.slice(0, SHOWN)}…` : made;
    describe();
  };
  const describe = () => {
    const all = count((whole ?? area.value).length);
    setText(state, whole ? `${all} characters, generated; this is how it begins. Up to 40 kB can be edited.` : `${all} characters. Edit it, or paste your own.`);
  };
  area.addEventListener('input', describe);
  length.addEventListener('change', generate);

  const row = labelled(title, area, schema.description);
  row.append(element('div', { class: 'source' }, state, labelled('Sample length, kB', length)));
  return {
    element: row,
    read: () => whole ?? area.value,
    set: (_, value) => {
      length.value = String(value);
      generate();
    },
  };
}
