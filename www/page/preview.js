import { count, isolated, size } from './format.js';

const MAX_TEXT = 160;
const MAX_ENTRIES = 16;
const MAX_DEPTH = 4;

/**
 * Returns a short preview of any value as JSON-like text. Long strings, lists and buffers are cut,
 * and their length is shown. Values of any size are safe, because only their beginnings are read.
 * @param {unknown} value
 * @param {string} [indent] '' writes it on one line
 * @returns {string}
 */
export function preview(value, indent = '') {
  return write(value, indent, 0);
}

/**
 * @param {unknown} value
 * @param {string} indent
 * @param {number} depth
 * @returns {string}
 */
function write(value, indent, depth) {
  if (typeof value === 'string') {
    if (value.length <= MAX_TEXT) return isolated(JSON.stringify(value));
    return `${isolated(JSON.stringify(value.slice(0, MAX_TEXT)))} … (${count(value.length)} characters)`;
  }
  if (typeof value === 'bigint') return `${value}n`;
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return `${className(value)}(${size(value.byteLength)})`;
  if (value instanceof Blob) return `Blob(${size(value.size)})`;
  const list = Array.isArray(value);
  if (!list && !isPlain(value)) return className(value);
  if (depth >= MAX_DEPTH) return list ? '[…]' : '{…}';
  const [open, close] = list ? ['[', ']'] : ['{', '}'];
  const { shown, more } = list ? firstItems(value, indent, depth) : firstEntries(value, indent, depth);
  if (more) shown.push(more);
  if (shown.length === 0) return open + close;
  if (!indent) return list ? `[${shown.join(', ')}]` : `{ ${shown.join(', ')} }`;
  const pad = indent.repeat(depth + 1);
  return `${open}\n${shown.map((line) => pad + line).join(',\n')}\n${indent.repeat(depth)}${close}`;
}

/**
 * @param {unknown[]} items
 * @param {string} indent
 * @param {number} depth
 */
function firstItems(items, indent, depth) {
  const shown = items.slice(0, MAX_ENTRIES).map((item) => write(item, indent, depth + 1));
  return { shown, more: items.length > MAX_ENTRIES ? `… ${count(items.length - MAX_ENTRIES)} more` : '' };
}

/**
 * @param {object} value
 * @param {string} indent
 * @param {number} depth
 */
function firstEntries(value, indent, depth) {
  /** @type {string[]} */
  const shown = [];
  // This loop stops early. Object.entries would copy an object with a million keys.
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    const item = /** @type {Record<string, unknown>} */ (value)[key];
    if (item === undefined) continue;
    if (shown.length === MAX_ENTRIES) return { shown, more: '…' };
    shown.push(`${JSON.stringify(key.slice(0, MAX_TEXT))}: ${write(item, indent, depth + 1)}`);
  }
  return { shown, more: '' };
}

/** @param {object} value */
function isPlain(value) {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** @param {object} value */
function className(value) {
  return value.constructor?.name ?? 'Object';
}
