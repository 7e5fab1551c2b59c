import { must } from '../command.mjs';

const minute = 60_000;
/** The published crates. */
const published = ['caphost-macros', 'caphost', 'caphost-gateway'];

/**
 * The parts of `cargo metadata` that are used.
 *
 * @typedef {{ id: string, name: string, version: string, rust_version: string | null }} Package
 * @typedef {{ id: string, deps: { pkg: string, dep_kinds: { kind: string | null }[] }[] }} Node
 * @typedef {{ packages: Package[], resolve: { nodes: Node[] } }} Metadata
 */

/** Checks that the `rust-version` of each published crate is high enough for its dependencies. */
export async function checkRustVersions() {
  const metadata = await must('cargo', ['metadata', '--locked', '--quiet', '--all-features', '--format-version', '1'], { quiet: true, timeoutMs: 5 * minute });
  const wrong = published.flatMap((name) => tooOld(JSON.parse(metadata), name));
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
}

/**
 * @param {Metadata} metadata
 * @param {string} name of a crate
 * @returns {string[]} a line for each package in the crate's build, on any platform, that needs a newer Rust than the crate declares
 */
export function tooOld({ packages, resolve }, name) {
  const byId = new Map(packages.map((it) => [it.id, it]));
  const nodes = new Map(resolve.nodes.map((it) => [it.id, it]));
  const crate = packages.find((it) => it.name === name);
  if (!crate?.rust_version) return [`${name} has no rust-version`];
  const { rust_version: said } = crate;
  const needed = new Set([crate.id]);
  // The loop also visits ids that are added meanwhile. Dependencies only for tests are left out.
  for (const id of needed) {
    for (const { pkg, dep_kinds: kinds } of nodes.get(id)?.deps ?? []) if (kinds.some(({ kind }) => kind !== 'dev')) needed.add(pkg);
  }
  return [...needed].flatMap((id) => {
    const it = byId.get(id);
    return it?.rust_version && isNewer(it.rust_version, said) ? [`${name} says rust-version ${said}, and ${it.name} ${it.version} needs ${it.rust_version}`] : [];
  });
}

/** @param {string} one such as `1.89` or `1.89.0` @param {string} other */
function isNewer(one, other) {
  const [a, b] = [one, other].map((it) => it.split('.').map(Number));
  for (let at = 0; at < 3; at += 1) {
    const more = (a?.[at] ?? 0) - (b?.[at] ?? 0);
    if (more !== 0) return more > 0;
  }
  return false;
}
