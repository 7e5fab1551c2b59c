import { run, which } from '../command.mjs';
import { installWithApt } from './system-packages.mjs';

/**
 * @typedef {object} Wanted
 * @property {string} what needs the programs
 * @property {string[]} programs
 * @property {string} apt the apt package that has the programs
 * @property {string} brew the Homebrew formula that has the programs
 */

/** @type {Wanted} */
const redis = { what: 'the tests of several workers', programs: ['redis-server', 'redis-cli'], apt: 'redis-server', brew: 'redis' };

/** @type {Wanted} */
const poppler = { what: 'the tests of exported PDF files', programs: ['pdftotext'], apt: 'poppler-utils', brew: 'poppler' };

/**
 * Finds the programs that tests run, or installs them.
 *
 * @param {(line: string) => void} say
 */
export async function ensurePrograms(say) {
  for (const wanted of [redis, poppler]) await ensure(say, wanted);
}

/** @param {(line: string) => void} say @param {Wanted} wanted */
async function ensure(say, { what, programs, apt, brew }) {
  for (const get of [undefined, () => installWithApt(say, [apt]), () => installWithBrew(say, brew)]) {
    await get?.();
    if (programs.every((program) => which(program) !== undefined)) return;
  }
  throw new Error(`${what} need ${programs.join(' and ')} on the PATH: install ${brew} with the packages of this system`);
}

/** @param {(line: string) => void} say @param {string} formula */
async function installWithBrew(say, formula) {
  if (which('brew') === undefined) return;
  say(`installing ${formula} with brew (about a minute)`);
  await run('brew', ['install', formula], { toStderr: true });
}
