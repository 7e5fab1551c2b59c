// Measures calls, cancels, checkpoints, the demo's capabilities and the gateway, each beside what it is to be
// compared with, and prints a table: node bench.mjs [--rounds N] [--write]
// With --write the table replaces the one in docs/benchmarks.md. Needs everything built.

import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkpoints } from './bench/checkpoint.mjs';
import { cluster } from './bench/cluster.mjs';
import { demoCapabilities } from './bench/demo.mjs';
import { gatewayTable } from './bench/gateway.mjs';
import { interleaved } from './bench/rounds.mjs';
import { sizes, table } from './bench/table.mjs';
import { transports } from './bench/transports.mjs';
import { always, lastMeasure } from './build/size.mjs';
import { root } from './paths.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '15' }, write: { type: 'boolean', default: false } } });
const rounds = Number(values.rounds);
const start = '<!-- measured -->';
const end = '<!-- /measured -->';

/** One browser at a time: another that idles still takes its share of the machine. @type {import('./bench/rounds.mjs').Result[]} */
const results = [];
let version = '';
let costs = '';
for (const open of [transports, cluster, checkpoints, demoCapabilities]) {
  const part = await open();
  try {
    if ('version' in part && typeof part.version === 'string') version = part.version;
    results.push(...await interleaved(part.rows, rounds));
    if ('costs' in part && typeof part.costs === 'function') costs = await part.costs();
  } finally {
    await part.close();
  }
}

const machine = `${availableParallelism()} shared cores, headless ${version}, Node ${process.versions.node}, ${rounds} rounds`;
const gateway = await gatewayTable();
const measured = [
  `Measured on: ${machine}.`,
  table(results),
  '## The gateway beside a bare relay',
  gateway,
  '## What a call costs Redis',
  costs,
  '## Size of the package',
  sizes(always(lastMeasure() ?? [])),
].join('\n\n');
console.log(measured);
if (values.write) {
  const file = join(root, 'docs', 'benchmarks.md');
  const text = readFileSync(file, 'utf8');
  const [before, after] = [text.indexOf(start), text.indexOf(end)];
  if (before < 0 || after < before) throw new Error(`${file} has no place for the table`);
  writeFileSync(file, `${text.slice(0, before + start.length)}\n\n${measured}\n\n${text.slice(after)}`);
}
