/** @typedef {import('./main.mjs').Report} Report */
/** @typedef {import('./statistics.mjs').Row} Row */

/** @param {Report} report @returns {string} for a terminal */
export function text(report) {
  const { machine, versions, missing, targets } = report;
  return [
    `Measured in headless ${machine.browser}, Node ${machine.node}, ${machine.cores} cores, ${machine.rounds} rounds${machine.quick ? ', quick' : ''}.`,
    'Compare the ratios: each is the median of the rounds, with the middle half of them. Times are those of this machine.',
    Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(', '),
    ...missing.map((what) => `Not measured: ${what}`),
    ...Object.entries(report.groups).map(([id, group]) => groupText(id, group)),
    sizesText(report),
    ...report.memory.map(memoryText),
    targets.length > 0 ? table('Targets', ['', 'measured', 'at most', ''], targets.map(targetLine)) : '',
  ].filter(Boolean).join('\n\n');
}

/** @param {string} id @param {import('./main.mjs').Measured} group */
function groupText(id, { title, rows }) {
  const unit = ['start', 'apps', 'register'].includes(id) ? 'ms' : 'µs';
  const isBase = (/** @type {Row} */ row) => rows.some(({ base }) => base === row.name);
  const lines = rows.map((row) => [
    row.note ? `${row.name} (${row.note})` : row.name,
    row.ratio === undefined ? (isBase(row) ? 'base' : '') : times(row.ratio),
    row.low === undefined ? '' : `${times(row.low)} to ${times(row.high ?? NaN)}`,
    row.quiet === undefined ? '' : times(row.quiet),
    row.p99Ratio === undefined ? '' : times(row.p99Ratio),
    `${digits(row.median)} ${unit}`,
    `${digits(row.p99)} ${unit}`,
  ]);
  return table(`${title} [${id}]`, ['', 'ratio', 'middle half', 'quickest tenth', 'of p99', 'median', 'p99'], lines);
}

/** @param {Report} report */
function sizesText({ sizes }) {
  if (sizes.length === 0) return '';
  const lines = sizes.map(({ name, bytes, gzip, wasm, onDemand }) => [name, whole(bytes), whole(gzip), whole(wasm), whole(onDemand)]);
  return table('The same app, bundled: bytes it has loaded by its first answer', ['', 'minified', 'gzip', 'of it wasm', 'on demand'], lines);
}

/** @param {import('./memory.mjs').Memory} memory */
function memoryText({ title, rows }) {
  const lines = rows.map(({ name, bytes, js, wasm, note = '' }) => [note ? `${name} (${note})` : name, whole(bytes), whole(js), whole(wasm)]);
  return table(`Memory of ${title}, bytes`, ['', 'together', 'JavaScript', 'wasm'], lines);
}

/** @param {import('./plan.mjs').Verdict} verdict */
function targetLine({ what, value, limit, bytes, met }) {
  const show = bytes ? whole : times;
  return [what, show(value), show(limit), met ? 'met' : 'missed'];
}

/** @param {string} title @param {string[]} head @param {string[][]} lines */
function table(title, head, lines) {
  const widths = head.map((_, i) => Math.max(...[head, ...lines].map((line) => line[i]?.length ?? 0)));
  const line = (/** @type {string[]} */ cells) => cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ').trimEnd();
  return [title, line(head), ...lines.map(line)].join('\n');
}

/** @param {number} ratio */
export const times = (ratio) => `× ${ratio < 10 ? Number(ratio.toPrecision(3)) : digits(ratio)}`;

/** @param {number} value */
const whole = (value) => Math.round(value).toLocaleString('en').replaceAll(',', ' ');

/** Rounds to as many digits as are more than noise. @param {number | undefined} value */
export function digits(value) {
  if (value === undefined || !Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100) return whole(value);
  return String(Number(value.toPrecision(Math.abs(value) < 10 ? 2 : 3)));
}
