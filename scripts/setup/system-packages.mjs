import { existsSync, readFileSync } from 'node:fs';
import { run } from '../command.mjs';

/**
 * Installs packages of the distribution, if it has apt and this process runs as root.
 *
 * @param {(line: string) => void} say
 * @param {string[]} packages
 * @param {RegExp} distributions matches the ids in /etc/os-release
 */
export async function installWithApt(say, packages, distributions = /^ID(_LIKE)?=.*\bdebian\b/m) {
  if (!isRoot() || !isOneOf(distributions)) return;
  say(`installing the packages ${packages.join(' and ')} (about a minute)`);
  const options = { toStderr: true, env: { DEBIAN_FRONTEND: 'noninteractive' } };
  await run('apt-get', ['update', '-q'], options);
  await run('apt-get', ['install', '-y', '-q', ...packages], options);
}

export const isRoot = () => process.getuid?.() === 0;

/** @param {RegExp} distributions */
function isOneOf(distributions) {
  const release = '/etc/os-release';
  return existsSync(release) && distributions.test(readFileSync(release, 'utf8'));
}
