import { loadedBy } from '../build/size.mjs';

/** @param {import('./rounds.mjs').Result[]} results @returns {string} Markdown */
export function table(results) {
  const lines = ['| | median | middle half | against its base |', '|---|--:|--:|--:|'];
  let group = '';
  for (const result of results) {
    if (result.group !== group) {
      ({ group } = result);
      lines.push(`| **${group}** | | | |`);
    }
    const range = `${digits(result.low)} to ${digits(result.high)}`;
    const isBase = results.some((other) => other.group === result.group && other.base === result.name);
    const ratio = result.ratio === undefined ? (isBase ? 'base' : '') : `× ${digits(result.ratio)}`;
    lines.push(`| ${result.name} | ${digits(result.median)} ${result.unit} | ${range} | ${ratio} |`);
  }
  return lines.join('\n');
}

/** @param {import('../build/size.mjs').Part[]} parts @returns {string} Markdown */
export function sizes(parts) {
  const bytes = (/** @type {number} */ count) => count.toLocaleString('en').replaceAll(',', ' ');
  /** @param {import('../build/size.mjs').Role} role @param {string} name */
  const row = (role, name) => {
    const loaded = loadedBy(parts, role);
    const sum = (/** @type {'bytes' | 'gzip'} */ key) => loaded.reduce((total, part) => total + part[key], 0);
    const wasm = loaded.filter(({ file }) => file.endsWith('.wasm')).reduce((total, { gzip }) => total + gzip, 0);
    return `| ${name} | ${bytes(sum('bytes'))} | ${bytes(sum('gzip'))} | ${bytes(wasm)} |`;
  };
  return [
    '| a page that is | loads bytes | gzip | of it WebAssembly |',
    '|---|--:|--:|--:|',
    row('host', 'a host'),
    row('agent', 'an agent'),
  ].join('\n');
}

/** Rounds to two significant digits: more would be noise. @param {number} value */
function digits(value) {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100) return String(Math.round(value));
  return String(Number(value.toPrecision(2)));
}
