import { times } from './report.mjs';

/**
 * The chart of the README: a bar per contender. A bar's length is the ratio to the base of its
 * group. All panels have the same scale.
 *
 * @typedef {import('./main.mjs').Report} Report
 * @typedef {{ name: string, ratio: number, ours: boolean, base: boolean }} Bar
 * @typedef {{ title: string, unit: string, bars: Bar[] }} Panel
 */

const WIDTH = 760;
const NAMES = 250;
const NUMBERS = 64;
const ROW = 22;
const TITLE = 44;
const PAD = 20;

/** The panels, with the rows that each shows and the names of these rows. @type {[id: string, unit: string, names: Record<string, string>][]} */
const shown = [
  ['inPageFull', 'times the protocol\'s published sample', { 'published sample': 'published sample', 'caphost': 'caphost' }],
  ['inPageRust', 'times a bare wasm async export', { 'a bare wasm async export': 'bare export', 'a bare wasm async export with serde': 'bare export with serde', 'caphost': 'caphost' }],
  ['port', 'times a raw MessagePort', {
    'raw MessagePort': 'raw MessagePort',
    'ABP by hand, both ends': 'ABP envelopes by hand',
    'caphost: a plain agent, our host': 'caphost, a plain agent',
    'caphost: our agent, our host': 'caphost, both ends',
    'birpc': 'birpc', 'penpal': 'penpal', 'comlink': 'comlink', 'vscode-jsonrpc': 'vscode-jsonrpc', 'kkrpc': 'kkrpc', 'capnweb': 'capnweb', 'comctx': 'comctx', 'MCP SDK': 'MCP SDK',
  }],
  ['sockets', 'times a raw echo through a relay', { 'raw echo through a relay': 'raw echo through a relay', 'caphost, through the gateway': 'caphost, through the gateway' }],
  ['puppeteer', 'times page.evaluate', { '`page.evaluate` of a function': 'page.evaluate', 'caphost, agent of `attach`': 'caphost, attach' }],
  ['cancelInPage', 'times abort() with a listener', { '`abort()` with a listener': 'abort() with a listener', 'published sample': 'published sample', 'caphost': 'caphost' }],
];

/** @param {Report} report @returns {string} SVG */
export function chart(report) {
  const panels = shown.flatMap(([id, unit, names]) => panel(report, id, unit, names));
  const height = panels.reduce((sum, { bars }) => sum + TITLE + bars.length * ROW + 10, PAD + 26);
  const longest = Math.max(...panels.flatMap(({ bars }) => bars.map(({ ratio }) => ratio)));
  const scale = (WIDTH - NAMES - NUMBERS - PAD) / longest;
  let y = PAD;
  const parts = panels.map((it) => {
    const drawn = draw(it, y, scale);
    y += TITLE + it.bars.length * ROW + 10;
    return drawn;
  });
  const { machine } = report;
  const foot = `Medians of ${machine.rounds} interleaved rounds, ${machine.browser}, ${machine.cores} shared cores. Shorter is better.`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">
<title id="title">What a call costs, as ratios to the same work without the package</title>
<style>
  text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1f2328; }
  .title { font-weight: 600; font-size: 14px; }
  .small { fill: #59636e; font-size: 12px; }
  .paper { fill: #ffffff; }
  .ours { fill: #1a7f5a; }
  .other { fill: #8c959f; }
  .base { fill: #c5ccd3; }
  .line { stroke: #8c959f; stroke-dasharray: 3 3; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .small { fill: #9198a1; }
    .paper { fill: #0d1117; }
    .ours { fill: #3fb950; }
    .other { fill: #6e7681; }
    .base { fill: #3d444d; }
    .line { stroke: #6e7681; }
  }
</style>
<rect class="paper" width="${WIDTH}" height="${height}" rx="8"/>
${parts.join('\n')}
<text class="small" x="${PAD}" y="${height - 16}">${escape(foot)}</text>
</svg>
`;
}

/** @param {Report} report @param {string} id @param {string} unit @param {Record<string, string>} names @returns {Panel[]} */
function panel({ groups }, id, unit, names) {
  const group = groups[id];
  if (!group) return [];
  const bars = group.rows.flatMap(({ name, ratio = 1 }) => {
    const label = names[name];
    return label === undefined ? [] : [{ name: label, ratio, ours: label.startsWith('caphost'), base: name === group.base }];
  });
  return [{ title: group.title, unit, bars: bars.toSorted((a, b) => a.ratio - b.ratio) }];
}

/** @param {Panel} panel @param {number} top @param {number} scale */
function draw({ title, unit, bars }, top, scale) {
  const first = top + TITLE;
  const one = NAMES + scale;
  return [
    `<text class="title" x="${PAD}" y="${top + 16}">${escape(title)}</text>`,
    `<text class="small" x="${PAD}" y="${top + 34}">${escape(unit)}</text>`,
    ...bars.map(({ name, ratio, ours, base }, i) => {
      const y = first + i * ROW;
      const length = Math.max(2, ratio * scale);
      return `<text x="${NAMES - 10}" y="${y + 14}" text-anchor="end">${escape(name)}</text>`
        + `<rect class="${ours ? 'ours' : base ? 'base' : 'other'}" x="${NAMES}" y="${y + 2}" width="${length.toFixed(1)}" height="${ROW - 6}" rx="3"/>`
        + `<text class="small" x="${(NAMES + length + 8).toFixed(1)}" y="${y + 14}">${base ? '1' : times(ratio)}</text>`;
    }),
    `<line class="line" x1="${one.toFixed(1)}" x2="${one.toFixed(1)}" y1="${first - 2}" y2="${first + bars.length * ROW}"/>`,
  ].join('\n');
}

/** @param {string} text */
const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
