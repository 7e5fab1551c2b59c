/** @import { Field } from './field.js' */
/** @import { Schema } from '../types/protocol.js' */
import { element } from '../dom.js';
import { words } from './field.js';

/**
 * The properties of a schema that exclude each other: `{oneOf: [{required: ['html']}, {required:
 * ['markdown']}]}` or `{not: {required: ['rows', 'megabytes']}}`.
 * @param {Schema} schema
 * @returns {string[]} empty if the schema has no such properties
 */
export function alternativesOf(schema) {
  const options = schema.oneOf ?? schema.anyOf ?? [];
  const single = options.length > 1 && options.every((option) => option.required?.length === 1);
  if (single) return [...new Set(options.flatMap((option) => option.required ?? []))];
  const excluded = schema.not?.required ?? [];
  return excluded.length > 1 ? [...excluded] : [];
}

/**
 * A choice between fields. The fields that are not chosen are hidden and left out of the call.
 * @param {string[]} names
 * @param {Map<string, Field>} fields the fields of the form, by property
 * @returns {{ element: HTMLElement, chosen: () => string }}
 */
export function chooseOne(names, fields) {
  let chosen = names[0] ?? '';
  const box = element('fieldset', { class: 'segments' }, element('legend', {}, 'Input'));
  const group = `from-${names.join('-')}-${Math.random().toString(36).slice(2)}`;
  const show = () => {
    for (const name of names) {
      const field = fields.get(name)?.element;
      if (field) field.hidden = name !== chosen;
    }
  };
  for (const name of names) {
    const radio = element('input', { type: 'radio', name: group, value: name });
    radio.checked = name === chosen;
    radio.addEventListener('change', () => {
      chosen = name;
      show();
    });
    box.append(element('label', {}, radio, element('span', {}, words(name))));
  }
  show();
  return { element: box, chosen: () => chosen };
}
