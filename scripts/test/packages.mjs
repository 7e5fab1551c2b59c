import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkCrateGlue } from '../build/crate-glue.mjs';
import { unlessDone } from '../build/stamp.mjs';
import { must } from '../command.mjs';
import { root, targetDir } from '../paths.mjs';

/** Matches every file that a published crate may have. */
const own = /^(src\/.+|README\.md|LICENSE-(MIT|APACHE)|Cargo\.(toml|toml\.orig|lock)|\.cargo_vcs_info\.json)$/;
const needed = [/^src\/lib\.rs$/, /^(src\/)?README\.md$/, /^LICENSE-MIT$/, /^LICENSE-APACHE$/];

/** The published crates, each with its folder. @type {Record<string, string>} */
const crates = { 'caphost-macros': join(root, 'macros'), caphost: root, 'caphost-gateway': join(root, 'gateway') };
const named = Object.keys(crates).flatMap((name) => ['--package', name]);
const minute = 60_000;

/** Throws unless each crate's package holds all of its files and no others, and builds from them alone. */
export async function checkPackages() {
  await checkCrateGlue();
  for (const name of Object.keys(crates)) {
    const listed = await must('cargo', ['package', '--list', '--locked', '--allow-dirty', '--quiet', '--package', name], { quiet: true });
    const files = listed.trim().split('\n').map((path) => path.replaceAll('\\', '/'));
    const foreign = files.filter((path) => !own.test(path));
    if (foreign.length > 0) throw new Error(`the package of ${name} holds ${foreign.join(', ')}`);
    const missing = needed.filter((path) => !files.some((file) => path.test(file)));
    if (missing.length > 0) throw new Error(`the package of ${name} lacks ${missing.join(', ')}`);
  }
  const built = await unlessDone({
    name: 'packages',
    inputs: [
      join(root, 'Cargo.lock'),
      join(root, 'rust-toolchain.toml'),
      ...Object.values(crates).flatMap((folder) => ['Cargo.toml', 'README.md', 'src'].map((name) => join(folder, name))),
    ],
    outputs: [],
  }, buildFromPackages);
  console.log(built ? 'built from their packages' : 'unchanged since they were built from their packages');
}

/**
 * Does what `cargo package` does to verify a package, but with the dependencies that are compiled
 * already. `cargo package` would compile all of them again for each crate.
 */
async function buildFromPackages() {
  const folder = join(root, 'target', 'packages');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await must('cargo', ['package', '--no-verify', '--locked', '--allow-dirty', '--quiet', ...named], { timeoutMs: 5 * minute });
  const manifest = readFileSync(join(root, 'Cargo.toml'), 'utf8');
  const version = /^version = "(.*)"$/m.exec(manifest)?.[1];
  const members = Object.keys(crates).map((name) => `${name}-${version}`);
  for (const member of members) {
    await must('tar', ['-xzf', join(targetDir, 'package', `${member}.crate`), '-C', folder]);
  }
  // A separate workspace with the profile of the main workspace: with another profile, cargo would
  // compile everything again.
  const profile = /^\[profile\.dev\]\n(?:[^[\n].*\n)+/m.exec(manifest)?.[0] ?? '';
  writeFileSync(join(folder, 'Cargo.toml'), `[workspace]
resolver = "3"
members = ${JSON.stringify(members)}

[patch.crates-io]
caphost = { path = "caphost-${version}" }
caphost-macros = { path = "caphost-macros-${version}" }

${profile}`);
  copyFileSync(join(root, 'Cargo.lock'), join(folder, 'Cargo.lock'));
  // The same commands that compiled the dependencies: with others, cargo would compile them again.
  await must('cargo', ['build', '--package', 'caphost-gateway'], { cwd: folder, timeoutMs: 20 * minute });
  await must('cargo', ['check', '--lib', '--package', 'caphost', '--all-features', '--target', 'wasm32-unknown-unknown'], { cwd: folder, timeoutMs: 20 * minute });
}
