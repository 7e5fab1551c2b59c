// Changes the core in one place at a time, and lists the changes that no unit test notices:
//   node mutants.mjs [--again] [call] [session] [agent]
// With --again, those alone that no test had noticed in the run before.
// Needs `cargo install cargo-mutants --locked`. The rules of `.cargo/mutants.toml` apply. The core is
// copied into a crate of its own under target/mutants, which compiles in a fraction of the time. The
// outcome is in target/mutants/core/mutants.out; the status is 0 if each change was noticed.

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { run } from './command.mjs';
import { root, targetDir } from './paths.mjs';

const mutated = ['call', 'session', 'agent'];
const { values, positionals: asked } = parseArgs({ allowPositionals: true, options: { again: { type: 'boolean', default: false } } });
const unknown = asked.filter((it) => !mutated.includes(it));
if (unknown.length > 0) throw new Error(`no folder of the core: ${unknown.join(', ')}`);

const copy = join(targetDir, 'mutants', 'core');
const folders = [...mutated, 'dialect', 'offers'];
mkdirSync(copy, { recursive: true });
rmSync(join(copy, 'src'), { recursive: true, force: true });
for (const folder of folders) cpSync(join(root, 'src', folder), join(copy, 'src', folder), { recursive: true });
// A busy machine decides nothing here: tests that compare times run their work once.
writeFileSync(join(copy, 'src', 'call', 'growth.rs'), 'pub(crate) fn assert_linear(work: impl Fn(usize)) {\n    work(8);\n}\n');
// The tests compare these with the tables of the core.
for (const part of ['src/web/js', 'npm/types.d.ts', 'docs/reference/errors.md']) cpSync(join(root, part), join(copy, part), { recursive: true });
cpSync(join(root, '.cargo', 'mutants.toml'), join(copy, '.cargo', 'mutants.toml'));
cpSync(join(root, 'Cargo.lock'), join(copy, 'Cargo.lock'));
writeFileSync(join(copy, 'src', 'lib.rs'), `${folders.map((it) => `pub mod ${it};\n`).join('')}pub use call::{Code, Stop};\npub use session::Limits;\n`);

const manifest = readFileSync(join(root, 'Cargo.toml'), 'utf8').replace(/^[\s\S]*?\n\[dependencies\]/, '');

/** @param {string} name @returns {string} how the crate depends on that crate */
function dependency(name) {
  const line = manifest.split('\n').find((it) => it.startsWith(`${name} = `));
  if (line === undefined) throw new Error(`Cargo.toml does not depend on ${name}`);
  return line.replace(', optional = true', '');
}

writeFileSync(join(copy, 'Cargo.toml'), `[package]
name = "caphost"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
${['rustc-hash', 'serde', 'serde_json', 'uuid'].map(dependency).join('\n')}

[profile.dev]
debug = false
`);

const filters = (asked.length > 0 ? asked : mutated).flatMap((it) => ['--file', `src/${it}/**`]);
const { code } = await run('cargo', ['mutants', '--in-place', '--dir', copy, '--no-shuffle', ...values.again ? ['--iterate'] : [], ...filters, '--', '--lib', '--', '--skip', 'as_quickly_each_as_a_few'], {
  cwd: copy,
  env: { CARGO_TARGET_DIR: join(copy, 'target'), CARGO_INCREMENTAL: '1' },
});
process.exit(code);
