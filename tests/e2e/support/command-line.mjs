import { spawn, spawnSync } from 'node:child_process';
import { gatewayBinary, root } from '../../../scripts/paths.mjs';

/**
 * @typedef {object} Ended
 * @property {number | null} status
 * @property {string} out standard output
 * @property {string} err standard error
 *
 * @typedef {object} CommandLine
 * @property {(text: string) => Promise<void>} says resolves once this text is on standard error
 * @property {(signal: NodeJS.Signals) => void} signal
 * @property {Promise<Ended>} ended
 */

/**
 * Starts the built `caphost` like a user, with the gateway in the environment.
 *
 * @param {{ url: string }} gateway
 * @param {string[]} args
 * @param {object} [options]
 * @param {string} [options.input] the text on standard input
 * @param {boolean} [options.terminal] whether to give it a terminal: all output is on standard output then
 * @returns {CommandLine}
 */
export function startCommand(gateway, args, { input = '', terminal = false } = {}) {
  const quoted = [gatewayBinary, ...args].map((arg) => `'${arg.replaceAll("'", "'\\''")}'`).join(' ');
  const within = ['script', '--quiet', '--return', '--command', quoted, '/dev/null'];
  const [command = '', ...rest] = terminal ? within : [gatewayBinary, ...args];
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CAPHOST_'));
  const child = spawn(command, rest, {
    cwd: root,
    env: { ...Object.fromEntries(inherited), CAPHOST_GATEWAY: gateway.url },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  let [out, err] = ['', ''];
  /** @type {Set<() => void>} */
  const listeners = new Set();
  child.stdout.setEncoding('utf8').on('data', (text) => { out += text; });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text;
    for (const listener of listeners) listener();
  });
  // A command that reads no input may have ended before the input is written.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  /** @type {Promise<Ended>} */
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => {
      process.off('exit', killWithUs);
      resolve({ status, out, err });
    });
  });
  return {
    says: (text) => new Promise((resolve, reject) => {
      const look = () => {
        if (!err.includes(text)) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      look();
      void ended.then(() => reject(new Error(`ended without ${JSON.stringify(text)}\n${err}`)), reject);
    }),
    signal: (signal) => child.kill(signal),
    ended,
  };
}

/** Whether the program that provides a terminal is installed: `script` of util-linux. */
export const hasTerminals = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

/**
 * Runs a command to its end.
 *
 * @param {Parameters<typeof startCommand>} given
 */
export const runCommand = (...given) => startCommand(...given).ended;
