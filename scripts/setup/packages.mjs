import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { must } from '../command.mjs';
import { root } from '../paths.mjs';

/**
 * Installs the npm dependencies when they are missing or differ from package-lock.json.
 *
 * @param {(line: string) => void} say
 * @param {string} [folder] the folder that has a package-lock.json
 */
export async function ensurePackages(say, folder = root) {
  if (installed(folder)) return;
  say(`installing the npm dependencies of ${join(relative(root, folder), 'package-lock.json')} (10 to 60 s)`);
  // Warnings are hidden: they only say which Node versions puppeteer-core is published for, and 20
  // works. `npm ci` refuses a lock file that lacks the packages of other systems; `npm install`
  // installs the same.
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
    // An optional package for another platform is absent.
    if (!found) return entry.optional === true;
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

/** @param {string} lock @returns {Record<string, Entry>} */
function packages(lock) {
  return JSON.parse(readFileSync(lock, 'utf8')).packages ?? {};
}
