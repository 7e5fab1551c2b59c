import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { gatewayBinary, root } from '../../../scripts/paths.mjs';

/**
 * @typedef {object} Gateway
 * @property {string} url such as `http://127.0.0.1:40123`
 * @property {string} wsUrl such as `ws://127.0.0.1:40123`
 * @property {number} port
 * @property {number} pid
 * @property {() => string} log the output so far
 * @property {() => Promise<number | null>} exited its exit code, once it has ended
 * @property {(signal?: NodeJS.Signals) => Promise<number | null>} stop ends it, by default with SIGTERM
 */

const startGraceMs = 15_000;
const stopGraceMs = 5000;

/**
 * Starts the built `caphost serve` on a free port and waits until it serves.
 *
 * @param {object} [options]
 * @param {number} [options.port] a fixed port, for a gateway that is restarted
 * @param {string[]} [options.args] further arguments of `serve`
 * @param {Record<string, string>} [options.env]
 * @param {string} [options.binary] the path of another build, such as the release build
 * @returns {Promise<Gateway>}
 */
export async function startGateway({ port = 0, args = [], env = {}, binary = gatewayBinary } = {}) {
  if (!existsSync(binary)) throw new Error(`${binary} is missing: \`npm run build:gateway\` builds it`);
  const child = spawn(binary, ['serve', '--port', String(port), ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text) => { log += text; });
  /** @type {Promise<number | null>} */
  const ended = new Promise((resolve) => child.once('close', (code) => {
    process.off('exit', killWithUs);
    resolve(code);
  }));

  /** @type {Promise<string>} */
  const ready = new Promise((resolve, reject) => {
    const timer = setTimeout(() => fail('did not get ready'), startGraceMs);
    const fail = (/** @type {string} */ what) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`caphost serve ${what}\n${log}`));
    };
    createInterface(child.stdout).on('line', (line) => {
      log += `${line}\n`;
      const url = /^caphost: serving (http:\/\/\S+?)\/?$/.exec(line)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code) => fail(`ended with ${code}`));
  });

  const url = await ready;
  return {
    url,
    wsUrl: url.replace(/^http/, 'ws'),
    port: Number(new URL(url).port),
    pid: child.pid ?? 0,
    log: () => log,
    exited: () => ended,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), stopGraceMs);
      return ended.finally(() => clearTimeout(timer));
    },
  };
}
