// Copies the parts of the RustSec advisory database that `npm test dependencies` needs where
// cargo-deny or the network is missing: the versions of each crate that an advisory concerns.
//
//     git clone https://github.com/rustsec/advisory-db <clone>
//     node scripts/advisories.mjs <clone>

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from './command.mjs';
import { copyOfAdvisories } from './test/advisories.mjs';

const [clone] = process.argv.slice(2);
if (clone === undefined) {
  console.error('usage: node scripts/advisories.mjs <clone of https://github.com/rustsec/advisory-db>');
  process.exit(2);
}
const date = ask('git', ['-C', clone, 'log', '-1', '--format=%cs'])?.trim();
if (!date) throw new Error(`${clone} is no clone`);

const folder = join(clone, 'crates');
const files = readdirSync(folder, { recursive: true }).map(String).filter((file) => file.endsWith('.md')).sort();
const advisories = files.flatMap((file) => {
  const text = readFileSync(join(folder, file), 'utf8');
  const head = /^```toml\n(.*?)^```/ms.exec(text)?.[1] ?? '';
  const one = (/** @type {string} */ key) => new RegExp(`^${key} *= *"([^"]*)"`, 'm').exec(head)?.[1];
  const many = (/** @type {string} */ key) => [...(new RegExp(`^${key} *= *\\[([^\\]]*)\\]`, 'm').exec(head)?.[1] ?? '').matchAll(/"([^"]*)"/g)].map(([, it]) => it);
  const [name, id, about] = [one('package'), one('id'), one('informational')];
  if (name === undefined || id === undefined) throw new Error(`${file} is no advisory`);
  if (one('withdrawn') !== undefined || about === 'notice') return [];
  return [{ name, id, fine: [...many('patched'), ...many('unaffected')], about }];
});

const header = {
  source: 'https://github.com/rustsec/advisory-db: names of crates, ids and versions, made by scripts/advisories.mjs',
  license: 'CC0-1.0; some advisories are adapted from the GitHub Advisory Database, CC-BY-4.0',
  date,
};
const lines = advisories.map((it) => JSON.stringify(it)).join(',\n');
writeFileSync(copyOfAdvisories, `${JSON.stringify(header).slice(0, -1)},"advisories":[\n${lines}\n]}\n`);
console.log(`${copyOfAdvisories}: ${advisories.length} advisories of ${date}`);
