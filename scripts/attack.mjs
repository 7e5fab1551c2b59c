// Starts a gateway and attacks it on this machine while an honest app and agent use it. Prints
// what the attacks cost them:
//   npm run attack [-- --seconds N] [--only NAME]… [--each] [--release] [--json]
//     runs all attacks at once for 60 seconds. With --each: one after the other, 60 seconds each. With
//     --release: the gateway that `npm run build:gateway` makes, not the gateway for tests.
// An attack that this machine cannot run is named, with the reason. Exits with code 1 if an honest call
// failed, if call times or the gateway's memory exceeded the limits, or if something is left over after
// the attack. Needs `npm run build:package`.

import { parseArgs } from 'node:util';
import { attacks } from './attack/attackers.mjs';
import { attack } from './attack/run.mjs';
import { delays, misdeeds, table } from './attack/report.mjs';
import { possible } from './attack/workers.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    only: { type: 'string', multiple: true, default: [] },
    each: { type: 'boolean', default: false },
    release: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const known = Object.keys(attacks);
for (const name of values.only) {
  if (!known.includes(name)) throw new Error(`there is no attack "${name}"; there are:\n  ${known.join('\n  ')}`);
}
const { names, skipped } = await possible(values.only.length > 0 ? values.only : known);
for (const { name, why } of skipped) console.error(`attack: skipped ${name}: ${why}`);
const seconds = Number(values.seconds);
const runs = values.each || names.length === 0 ? names.map((name) => [name]) : [names];
/** @type {import('./attack/run.mjs').Figures[]} */
const figures = [];
for (const together of runs) {
  if (!values.json) console.error(together.length > 1 ? `${together.length} attacks at once, ${seconds} s` : `${together[0]}, ${seconds} s`);
  figures.push(await attack(together, { seconds, release: values.release }));
}
console.log(values.json ? JSON.stringify(figures) : table(figures, skipped));
const faults = figures.flatMap((each) => [...misdeeds(each), ...delays(each)]);
for (const fault of faults) console.error(`attack: ${fault}`);
process.exitCode = faults.length > 0 ? 1 : 0;
