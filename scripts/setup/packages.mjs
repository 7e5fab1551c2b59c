import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { must } from '../command.mjs';
import { root } from '../paths.mjs';

/**
 * Installs the npm dependencies when they are missing or not those of package-lock.json.
 *
 * @param {(line: string) => void} say
 * @param {string} [folder] that has one
 */
export async function ensurePackages(say, folder = root) {
  if (installed(folder)) return;
  say(`installing the npm dependencies of ${join(relative(root, folder), 'package-lock.json')} (10 to 60 s)`);
  // Warnings would only repeat which Node versions puppeteer-core is published for; 20 works.
  // Where npm has left the packages of other systems out of a lock file, `ci` refuses it; installed is the same.
  const how = folder === root ? ['ci'] : ['install', '--no-save'];
  await must('npm', [...how, '--loglevel=error', '--no-fund', '--no-audit'], { toStderr: true, cwd: folder });
}

/** @typedef {{ version?: string, integrity?: string, optional?: boolean }} Entry */

/** @param {string} folder */
function installed(folder) {
  const record = join(folder, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const wanted = packages(join(folder, 'package-lock.json'));
  const present = packages(record);
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    const found = present[path];
    // An optional package is absent where it is built for another platform.
    if (!found) return entry.optional === true;
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

/** @param {string} lock @returns {Record<string, Entry>} */
function packages(lock) {
  return JSON.parse(readFileSync(lock, 'utf8')).packages ?? {};
}
