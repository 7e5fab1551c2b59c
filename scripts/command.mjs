import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { root, targetDir } from './paths.mjs';

const windows = process.platform === 'win32';
/** How long a command may take to end after its timeout. */
const graceMs = 2000;

// The folder of rustup's shims, for shells that do not have it on PATH.
const shims = join(process.env.CARGO_HOME ?? join(homedir(), '.cargo'), 'bin');
if (!process.env.PATH?.split(delimiter).includes(shims) && existsSync(shims)) {
  process.env.PATH = `${process.env.PATH ?? ''}${delimiter}${shims}`;
}
process.env.CARGO_TARGET_DIR = targetDir;

/** The commands that run. They are ended with this process. @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();

/** @param {import('node:child_process').ChildProcess} child @param {NodeJS.Signals} signal */
function signalGroup(child, signal) {
  if (child.pid === undefined) return;
  try {
    // Each command leads its own group, so its children end with it.
    process.kill(windows ? child.pid : -child.pid, signal);
  } catch {
    // The command has ended already.
  }
}

process.on('exit', () => running.forEach((child) => signalGroup(child, 'SIGKILL')));
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.on(signal, () => process.exit(130));
}

// A signal to npm ends the shell that npm started this process with. The shell does not pass the
// signal on.
if (process.env.npm_lifecycle_event !== undefined && !windows) {
  const shell = process.ppid;
  setInterval(() => {
    if (process.ppid !== shell) process.kill(process.pid, 'SIGTERM');
  }, 500).unref();
}

/**
 * @typedef {object} RunOptions
 * @property {string | undefined} [cwd] the repository when left out
 * @property {Record<string, string | undefined>} [env] added to the variables of this process
 * @property {boolean} [quiet] collects the output without showing it
 * @property {boolean} [toStderr] shows standard output on standard error
 * @property {number} [timeoutMs] the time after which the command and its children are ended
 *
 * @typedef {object} RunResult
 * @property {number} code 0 on success; 124 after a timeout, 127 when the command was not found
 * @property {string} output standard output and standard error, in order of arrival
 */

/**
 * Runs a command to its end, without standard input.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<RunResult>}
 */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? root,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: !windows,
      shell: windows && !command.endsWith('.exe'),
    });
    running.add(child);
    /** @type {string[]} */
    const chunks = [];
    let timedOut = false;
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const after = (/** @type {number} */ ms, /** @type {() => void} */ work) => void (timer = setTimeout(work, ms));
    if (options.timeoutMs !== undefined) {
      after(options.timeoutMs, () => {
        timedOut = true;
        // A browser leads a group of its own, so its parent must get a chance to end it.
        signalGroup(child, 'SIGTERM');
        after(graceMs, () => {
          signalGroup(child, 'SIGKILL');
          // A process that has left the group may still hold the pipes.
          after(graceMs, () => settle(124));
        });
      });
    }
    const take = (/** @type {NodeJS.WriteStream} */ shown) => (/** @type {string} */ text) => {
      chunks.push(text);
      if (!options.quiet) shown.write(text);
    };
    child.stdout.setEncoding('utf8').on('data', take(options.toStderr ? process.stderr : process.stdout));
    child.stderr.setEncoding('utf8').on('data', take(process.stderr));
    const settle = (/** @type {number} */ code, text = '') => {
      clearTimeout(timer);
      running.delete(child);
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ code, output: chunks.join('') + text });
    };
    child.once('error', (error) => settle(127, error.message));
    child.once('close', (code) => settle(timedOut ? 124 : code ?? 1));
  });
}

/**
 * Runs a command that must succeed.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<string>} its output
 */
export async function must(command, args, options = {}) {
  const { code, output } = await run(command, args, options);
  if (code === 0) return output;
  const shown = options.quiet ? `\n${output.trim()}` : '';
  throw new Error(`\`${[command, ...args].join(' ')}\` ended with ${code}${shown}`);
}

/**
 * Runs a quick command and returns its output.
 *
 * @param {string} command
 * @param {string[]} args
 * @returns {string | undefined} trimmed standard output, undefined when it failed
 */
export function ask(command, args) {
  const { status, stdout } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 20_000,
    shell: windows && !command.endsWith('.exe'),
  });
  return status === 0 ? stdout.trim() : undefined;
}

/** @param {string} path @returns {boolean} whether the path is an executable file */
export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** @param {string} name @returns {string | undefined} the path of the program, found on PATH */
export function which(name) {
  const endings = windows ? ['.exe', '.cmd', '.bat'] : [''];
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter(Boolean)
    .flatMap((folder) => endings.map((ending) => join(folder, name + ending)))
    .find(isExecutable);
}
