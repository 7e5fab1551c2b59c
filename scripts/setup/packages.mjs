import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { must } from '../command.mjs';
import { root } from '../paths.mjs';

/**
 * Installs the npm dependencies when they are missing or not those of package-lock.json.
 *
 * @param {(line: string) => void} say
 */
export async function ensurePackages(say) {
  if (installed()) return;
  say('installing the npm dependencies of package-lock.json (about 10 s)');
  // Warnings would only repeat which Node versions puppeteer-core is published for; 20 works.
  await must('npm', ['ci', '--loglevel=error', '--no-fund', '--no-audit'], { toStderr: true });
}

/** @typedef {{ version?: string, integrity?: string, optional?: boolean }} Entry */

function installed() {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const wanted = packages(join(root, 'package-lock.json'));
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
