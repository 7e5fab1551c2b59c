import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { ask, isExecutable, run, which } from '../command.mjs';
import { lockedVersion } from '../paths.mjs';

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'caphost');
const ending = process.platform === 'win32' ? '.exe' : '';

/**
 * @typedef {object} Tool
 * @property {string} crate
 * @property {string} version
 * @property {string[]} programs the first one supports `--version`
 * @property {string} takes the duration of its build on two cores
 */

/** The command line of wasm-bindgen, in the exact version that the code was built with. @returns {Tool} */
function wasmBindgen() {
  return {
    crate: 'wasm-bindgen-cli',
    version: lockedVersion('wasm-bindgen'),
    programs: ['wasm-bindgen', 'wasm-bindgen-test-runner'],
    takes: 'about 2 minutes',
  };
}

/** @param {(line: string) => void} say @returns {Promise<string>} the folder that holds wasm-bindgen */
export const ensureWasmBindgen = (say) => ensure(wasmBindgen(), say);

/** @param {Tool} tool @param {(line: string) => void} say @returns {Promise<string>} */
async function ensure(tool, say) {
  const present = find(tool);
  if (present !== undefined) return present;
  const home = cached(tool);
  say(`installing ${tool.crate} ${tool.version} into ${home} (${tool.takes})`);
  const args = ['install', tool.crate, '--version', tool.version, '--root', home];
  const options = {
    toStderr: true,
    env: {
      // A temporary target directory keeps the project's own unchanged.
      CARGO_TARGET_DIR: undefined,
      // The program runs for seconds, and full optimisation would compile for minutes.
      CARGO_PROFILE_RELEASE_OPT_LEVEL: '1',
      CARGO_PROFILE_RELEASE_CODEGEN_UNITS: '16',
      CARGO_PROFILE_RELEASE_LTO: 'off',
    },
  };
  if ((await run('cargo', [...args, '--locked'], options)).code !== 0) {
    say(`the dependencies ${tool.crate} was locked with are not available here; using the nearest ones`);
    await run('cargo', args, options);
  }
  const found = find(tool);
  if (found === undefined) throw new Error(`${tool.crate} ${tool.version} could not be installed`);
  return found;
}

/** @param {Tool} tool */
const cached = ({ crate, version }) => join(cache, `${crate}-${version}`);

/** @param {Tool} tool @returns {string | undefined} */
function find(tool) {
  const home = join(cached(tool), 'bin');
  if (tool.programs.every((program) => isExecutable(join(home, program + ending)))) return home;
  const [main] = tool.programs;
  const path = main === undefined ? undefined : which(main);
  if (path === undefined) return undefined;
  const beside = tool.programs.every((program) => existsSync(join(dirname(path), program + ending)));
  return beside && ask(path, ['--version'])?.endsWith(` ${tool.version}`) ? dirname(path) : undefined;
}
