import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import semver from 'semver';
import { root } from '../paths.mjs';

/**
 * @typedef {object} Advisory
 * @property {string} name of the crate
 * @property {string} id
 * @property {string[]} fine ranges of versions that it does not concern
 * @property {string} [about] what it is, if it is no vulnerability: `unmaintained`, `unsound`
 *
 * @typedef {{ source: string, license: string, date: string, advisories: Advisory[] }} Advisories
 */

/** Where the copy is, which `scripts/advisories.mjs` makes. */
export const copyOfAdvisories = join(import.meta.dirname, 'advisories.json');

/** @returns {Advisories} the copy of what is known against crates */
export function readAdvisories() {
  return JSON.parse(readFileSync(copyOfAdvisories, 'utf8'));
}

/** @param {string} lock text of a Cargo.lock @returns {{ name: string, version: string }[]} what is locked of registries */
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

/** Looks through Cargo.lock. @returns {{ date: string, known: string[] }} the date of the copy, and what is known */
export function checkLockedCrates() {
  const { date, advisories } = readAdvisories();
  const lock = readFileSync(join(root, 'Cargo.lock'), 'utf8');
  return { date, known: advisoriesOn(advisories, lockedCrates(lock)) };
}

/**
 * @param {string} version
 * @param {string} range as Cargo writes it: parts are separated by commas, and a version alone stands for those compatible with it
 */
function isIn(version, range) {
  const parts = range.split(',').map((part) => part.trim().replace(/^(?=\d)/, '^'));
  return semver.satisfies(version, parts.join(' '), { includePrerelease: true });
}
