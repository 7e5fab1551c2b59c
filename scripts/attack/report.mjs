/** @typedef {import('./run.mjs').Figures} Figures */

/** The limits for what an attack may do to honest clients and to the gateway. */
export const allowed = {
  /** The 99th percentile of call times may be this many milliseconds, or this many times the value before the attack. */
  milliseconds: 50,
  times: 3,
  /** The most memory that the gateway may use, in bytes. */
  memory: 300e6,
  /** How many more bytes the gateway may use after the attack than before. */
  kept: 140e6,
  /** How many more files and connections may be open after the attack than before. */
  descriptors: 4,
};

/**
 * Everything that went wrong, except for call times: one sentence each.
 *
 * @param {Figures} figures
 * @returns {string[]}
 */
export function misdeeds({ names, before, during, after, memory, descriptors, cancelled, healthy, counts }) {
  const faults = [];
  for (const [when, { failed, calls }] of Object.entries({ before, during, after })) {
    if (calls === 0) faults.push(`no honest call was made ${when} the attack`);
    if (failed.length > 0) faults.push(`${failed.length} of ${calls} honest calls failed ${when} the attack: ${failed[0]}`);
  }
  if (memory.peak > allowed.memory) faults.push(`the gateway used ${megabytes(memory.peak)}`);
  if (memory.after > memory.before + allowed.kept) faults.push(`the gateway uses ${megabytes(memory.after)} after it, ${megabytes(memory.before)} before`);
  if (descriptors.after > descriptors.before + allowed.descriptors) faults.push(`${descriptors.after} files and connections are open after it, ${descriptors.before} before`);
  if (!cancelled) faults.push('a cancel during the attack was not confirmed');
  if (!healthy) faults.push('/healthz did not answer during the attack');
  for (const name of names) {
    if (!counts[name]?.tried) faults.push(`no attempt of "${name}" was made`);
  }
  return faults.map((fault) => `${titleOf(names)}: ${fault}`);
}

/**
 * The cases in which honest calls took longer than is allowed: one sentence each.
 *
 * @param {Figures} figures
 * @returns {string[]}
 */
export function delays({ names, before, during, after }) {
  const most = Math.max(allowed.milliseconds, allowed.times * before.p99);
  return Object.entries({ during, after })
    .filter(([, { p99 }]) => p99 > most)
    .map(([when, { p99 }]) => `${titleOf(names)}: ${when} the attack 99 of 100 honest calls took up to ${p99.toFixed(1)} ms; allowed are ${most.toFixed(1)} ms`);
}

/** @param {string[]} names */
const titleOf = (names) => (names.length > 1 ? 'all at once' : String(names[0]));

/** @param {Figures[]} all @param {import('./workers.mjs').Skipped[]} [skipped] @returns {string} Markdown */
export function table(all, skipped = []) {
  const lines = [
    '| attack | tried | refused | median before, during, after | 99 of 100 within | memory before, at most, after | logged |',
    '|---|--:|--:|--:|--:|--:|--:|',
  ];
  for (const { names, before, during, after, memory, log, counts } of all) {
    const sum = (/** @type {'tried' | 'refused'} */ what) => names.reduce((total, name) => total + (counts[name]?.[what] ?? 0), 0);
    const times = (/** @type {'p50' | 'p99'} */ which) => `${[before, during, after].map((part) => part[which].toFixed(1)).join(', ')} ms`;
    const used = [memory.before, memory.peak, memory.after].map((bytes) => (bytes / 1e6).toFixed(0)).join(', ');
    lines.push(`| ${titleOf(names)} | ${sum('tried')} | ${sum('refused')} | ${times('p50')} | ${times('p99')} | ${used} MB | ${Math.round(log / 1000)} kB |`);
  }
  for (const { name, why } of skipped) lines.push(`| ${name} | not run: ${why} | | | | | |`);
  const [first] = all;
  if (all.length === 1 && first && first.names.length > 1) {
    lines.push('', '| of these | tried | refused |', '|---|--:|--:|');
    for (const name of first.names) lines.push(`| ${name} | ${first.counts[name]?.tried} | ${first.counts[name]?.refused} |`);
  }
  return lines.join('\n');
}

/** @param {number} bytes */
function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
