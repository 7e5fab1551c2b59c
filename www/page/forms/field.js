/** @import { Schema } from '../types/protocol.js' */
import { element } from '../dom.js';

/**
 * One input of a form.
 * @typedef {object} Field
 * @property {HTMLElement} element
 * @property {() => unknown | Promise<unknown>} read its value; undefined leaves the property out
 * @property {(path: string, value: unknown) => void} set `path` is '' for the field itself
 */

const ACRONYMS = /^(?:html|pdf|csv|json|url|id)$/;

let serial = 0;

/**
 * A field for a property of a schema.
 * @param {string} name
 * @param {Schema} schema
 * @param {boolean} required
 * @returns {Field}
 */
export function fieldFor(name, schema, required) {
  const simple = (schema.anyOf ?? schema.oneOf)?.find((option) => option.type === 'number' || option.type === 'string');
  if (!schema.type && simple) return fieldFor(name, { ...simple, ...schema, anyOf: undefined, oneOf: undefined }, required);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (schema.enum) return choice(name, schema, required);
  if (type === 'boolean') return tick(name, schema);
  if (type === 'integer' || type === 'number') return number(name, schema, required, type === 'integer');
  if (type === 'string') return text(name, schema, required);
  if (type === 'object' && schema.properties) return group(name, schema, required);
  return json(name, schema, required);
}

/**
 * Puts a label above its control, and the schema's description below it.
 * @param {string} label
 * @param {HTMLElement} control
 * @param {string} [description]
 */
export function labelled(label, control, description) {
  control.id = `field-${++serial}`;
  const row = element('div', { class: 'field' }, element('label', { for: control.id }, label), control);
  if (description) {
    const hint = element('p', { class: 'hint', id: `${control.id}-hint` }, description);
    control.setAttribute('aria-describedby', hint.id);
    row.append(hint);
  }
  return row;
}

/**
 * Turns `pageSize` into "Page size" and `html` into "HTML".
 * @param {string} name
 */
export function words(name) {
  if (ACRONYMS.test(name)) return name.toUpperCase();
  const spaced = name.replace(/([a-z0-9])([A-Z])/g, (_, before, after) => `${before} ${after.toLowerCase()}`).replace(/[_-]+/g, ' ');
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

/**
 * @param {string} name
 * @param {Schema} schema
 */
export function titleOf(name, schema) {
  return schema.title ?? words(name);
}

/** @type {(name: string, schema: Schema, required: boolean) => Field} */
function choice(name, schema, required) {
  const select = element('select', { name });
  const values = schema.enum ?? [];
  if (!required && schema.default === undefined) select.append(element('option', { value: '' }, 'default'));
  for (const [index, value] of values.entries()) select.append(element('option', { value: index }, String(value)));
  /** @param {unknown} value */
  const set = (value) => {
    if (values.includes(value)) select.value = String(values.indexOf(value));
  };
  set(schema.default);
  return {
    element: labelled(titleOf(name, schema), select, schema.description),
    read: () => (select.value === '' ? undefined : values[Number(select.value)]),
    set: (_, value) => set(value),
  };
}

/** @type {(name: string, schema: Schema) => Field} */
function tick(name, schema) {
  const box = element('input', { type: 'checkbox', name });
  box.checked = schema.default === true;
  const row = labelled(titleOf(name, schema), box, schema.description);
  row.classList.add('tick');
  return { element: row, read: () => box.checked, set: (_, value) => (box.checked = value === true) };
}

/** @type {(name: string, schema: Schema, required: boolean, integer: boolean) => Field} */
function number(name, schema, required, integer) {
  const input = element('input', {
    type: 'number',
    name,
    required,
    inputmode: integer ? 'numeric' : 'decimal',
    min: schema.minimum ?? (integer && schema.exclusiveMinimum !== undefined ? schema.exclusiveMinimum + 1 : undefined),
    max: schema.maximum,
    step: integer ? (schema.multipleOf ?? 1) : 'any',
    value: typeof schema.default === 'number' ? schema.default : undefined,
  });
  return {
    element: labelled(titleOf(name, schema), input, schema.description),
    read: () => (input.value === '' ? undefined : input.valueAsNumber),
    set: (_, value) => (input.value = value === undefined ? '' : String(value)),
  };
}

/** @type {(name: string, schema: Schema, required: boolean) => Field} */
function text(name, schema, required) {
  const long = /text|html|markdown|content|body/i.test(name);
  const limits = { name, required, maxlength: schema.maxLength, spellcheck: 'false' };
  const input = long ? element('textarea', { ...limits, rows: 4 }) : element('input', { ...limits, type: 'text' });
  input.value = typeof schema.default === 'string' ? schema.default : '';
  return {
    element: labelled(titleOf(name, schema), input, schema.description),
    read: () => (input.value === '' && !required ? undefined : input.value),
    set: (_, value) => (input.value = value === undefined ? '' : String(value)),
  };
}

/** @type {(name: string, schema: Schema, required: boolean) => Field} */
function group(name, schema, required) {
  const fields = fieldsOf(schema);
  const needed = (schema.anyOf ?? []).flatMap((option) => option.required ?? []);
  const box = element('fieldset', {}, element('legend', {}, titleOf(name, schema)));
  box.append(...[...fields.values()].map((field) => field.element));
  return {
    element: box,
    read: async () => {
      const value = await readAll(fields);
      // If the required part was left blank, the defaults alone are not worth sending.
      if (!required && needed.length > 0 && !needed.some((name) => name in value)) return undefined;
      return Object.keys(value).length > 0 || required ? value : undefined;
    },
    set: (path, value) => setAt(fields, path, value),
  };
}

/** @type {(name: string, schema: Schema, required: boolean) => Field} */
function json(name, schema, required) {
  const input = element('textarea', { name, required, rows: 3, spellcheck: 'false', class: 'code', placeholder: 'JSON' });
  if (schema.default !== undefined) input.value = JSON.stringify(schema.default);
  input.addEventListener('input', () => input.setCustomValidity(isJson(input.value) ? '' : 'This field takes JSON.'));
  return {
    element: labelled(`${titleOf(name, schema)} (JSON)`, input, schema.description),
    read: () => (input.value.trim() === '' ? undefined : JSON.parse(input.value)),
    set: (_, value) => (input.value = value === undefined ? '' : JSON.stringify(value)),
  };
}

/** @param {string} text */
function isJson(text) {
  if (text.trim() === '') return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {Schema} schema of an object
 * @param {(path: string, schema: Schema) => Field | undefined} [special] fields that the caller makes itself
 * @returns {Map<string, Field>}
 */
export function fieldsOf(schema, special = () => undefined) {
  const required = new Set(schema.required ?? []);
  const fields = new Map();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    fields.set(name, special(name, property) ?? fieldFor(name, property, required.has(name)));
  }
  return fields;
}

/** @param {Map<string, Field>} fields */
export async function readAll(fields) {
  /** @type {Record<string, unknown>} */
  const values = {};
  for (const [name, field] of fields) {
    const value = await field.read();
    if (value !== undefined) values[name] = value;
  }
  return values;
}

/**
 * @param {Map<string, Field>} fields
 * @param {string} path `options.pageSize`
 * @param {unknown} value
 */
export function setAt(fields, path, value) {
  const [name = '', ...rest] = path.split('.');
  fields.get(name)?.set(rest.join('.'), value);
}
