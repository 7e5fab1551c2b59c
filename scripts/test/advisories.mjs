import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import semver from 'semver';
import { root } from '../paths.mjs';

/**
 * @typedef {object} Advisory
 * @property {string} name of the crate
 * @property {string} id
 * @property {string[]} fine the ranges of versions that the advisory does not concern
 * @property {string} [about] the kind of advisory, if it is no vulnerability: `unmaintained`, `unsound`
 *
 * @typedef {{ source: string, license: string, date: string, advisories: Advisory[] }} Advisories
 */

/** The path of the copy that `scripts/advisories.mjs` makes. */
export const copyOfAdvisories = join(import.meta.dirname, 'advisories.json');

/** @returns {Advisories} the copy of the known advisories */
export function readAdvisories() {
  return JSON.parse(readFileSync(copyOfAdvisories, 'utf8'));
}

/** @param {string} lock text of a Cargo.lock @returns {{ name: string, version: string }[]} the locked crates that come from registries */
export function lockedCrates(lock) {
  const packages = lock.matchAll(/^\[\[package\]\]\nname = "([^"]+)"\nversion = "([^"]+)"\nsource = "registry\+/gm);
  return [...packages].map(([, name, version]) => ({ name: String(name), version: String(version) }));
}

/**
 * @param {Advisory[]} advisories
 * @param {{ name: string, version: string }[]} crates
 * @returns {string[]} a line for each crate and each advisory on its version
 */
export function advisoriesOn(advisories, crates) {
  return advisories.flatMap(({ name, id, fine, about }) =>
    crates
      .filter((it) => it.name === name && !fine.some((range) => isIn(it.version, range)))
      .map(({ version }) => `${name} ${version}: ${id}${about === undefined ? '' : ` (${about})`}, https://rustsec.org/advisories/${id}`));
}

/** Looks through Cargo.lock. @returns {{ date: string, known: string[] }} the date of the copy, and a line for each advisory that applies */
export function checkLockedCrates() {
  const { date, advisories } = readAdvisories();
  const lock = readFileSync(join(root, 'Cargo.lock'), 'utf8');
  return { date, known: advisoriesOn(advisories, lockedCrates(lock)) };
}

/**
 * @param {string} version
 * @param {string} range in Cargo's syntax: parts are separated by commas, and a bare version means all compatible versions
 */
function isIn(version, range) {
  const parts = range.split(',').map((part) => part.trim().replace(/^(?=\d)/, '^'));
  return semver.satisfies(version, parts.join(' '), { includePrerelease: true });
}
