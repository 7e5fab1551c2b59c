// Measures what a call costs, next to alternatives, and prints tables:
//   node bench.mjs page [--quick] [--against FOLDER] [--only GROUP]… [--write | --out FOLDER]
//     measures calls in a page, next to the protocol's sample, other libraries and plain browser
//     functions; `--against` measures another build of the package in the same run. Needs
//     `npm run build:package`.
//   node bench.mjs ways [--rounds N] [--write]
//     measures calls, cancels, checkpoints, the demo's capabilities and the gateway. Needs everything built.
// Runs both when none is named. With --write the figures go to docs/benchmarks.md and docs/benchmarks/.

import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '15' },
    write: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    against: { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
    out: { type: 'string' },
  },
});
const parts = positionals.length > 0 ? positionals : ['page', 'ways'];
for (const part of parts) {
  if (part === 'page') {
    const { benchmarkPage, documented } = await import('./bench/page/main.mjs');
    const { quick, against, only, out } = values;
    await benchmarkPage({ quick, against, only, out: values.write ? documented : out });
  } else if (part === 'ways') {
    const { benchmarkWays } = await import('./bench/ways.mjs');
    await benchmarkWays(Number(values.rounds), values.write);
  } else throw new Error(`there is no part ${part}; there are page and ways`);
}
