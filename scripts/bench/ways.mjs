import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { build } from '../build.mjs';
import { lastMeasure } from '../build/size.mjs';
import { root } from '../paths.mjs';
import { checkpoints } from './checkpoint.mjs';
import { cluster } from './cluster.mjs';
import { demoCapabilities } from './demo.mjs';
import { gatewayTable } from './gateway.mjs';
import { interleaved } from './rounds.mjs';
import { sizes, table } from './table.mjs';
import { transports } from './transports.mjs';

/**
 * Measures calls and cancels over every transport, next to the same without this package.
 *
 * @param {number} rounds
 * @param {boolean} write whether to write the figures into docs/benchmarks.md
 */
export async function benchmarkWays(rounds, write) {
  const [start, end] = ['<!-- measured -->', '<!-- /measured -->'];
  /** One browser runs at a time: even an idle one would take a share of the machine. @type {import('./rounds.mjs').Result[]} */
  const results = [];
  let version = '';
  let costs = '';
  await build();
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
    sizes(lastMeasure() ?? []),
  ].join('\n\n');
  console.log(measured);
  if (write) {
    const file = join(root, 'docs', 'benchmarks.md');
    const text = readFileSync(file, 'utf8');
    const [before, after] = [text.indexOf(start), text.indexOf(end)];
    if (before < 0 || after < before) throw new Error(`${file} has no place for the table`);
    writeFileSync(file, `${text.slice(0, before + start.length)}\n\n${measured}\n\n${text.slice(after)}`);
  }
}
