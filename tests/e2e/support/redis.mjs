import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePort } from './free-port.mjs';

/**
 * @typedef {object} Redis
 * @property {string} url such as `redis://127.0.0.1:40125`
 * @property {number} port
 * @property {() => void} hang keeps it alive, but without answers
 * @property {() => void} goOn
 * @property {() => Promise<void>} kill by SIGKILL
 * @property {() => Promise<void>} restart on the same port, with the same folder
 * @property {(...args: string[]) => Promise<string>} command returns the output of `redis-cli` for these arguments
 * @property {(message: unknown) => Promise<number>} publishCancel publishes JSON on `cancellation:cancel`; returns the number of receivers
 * @property {() => Promise<{ message: Promise<string> }>} hearCancel starts listening on that channel, and returns the promise of the next message
 * @property {() => Promise<void>} close ends it, and removes its folder
 */

/**
 * Starts a separate `redis-server`.
 *
 * @param {object} [options]
 * @param {boolean} [options.durable] whether written data survive a kill
 * @returns {Promise<Redis>}
 */
export async function startRedis({ durable = false } = {}) {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'caphost-redis-'));
  // By default Redis may delay writing for as long as a sync takes, and a kill loses that data.
  const keeping = durable ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no'];
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...keeping];
  let server = await begin(args);
  const command = async (/** @type {string[]} */ ...words) => {
    const { stdout } = await promisify(execFile)('redis-cli', ['-h', '127.0.0.1', '-p', String(port), ...words]);
    return stdout.trim();
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    hang: () => server.signal('SIGSTOP'),
    goOn: () => server.signal('SIGCONT'),
    kill: () => server.kill(),
    restart: async () => {
      server = await begin(args);
    },
    command,
    hearCancel: () => hear(port, 'cancellation:cancel'),
    publishCancel: async (message) => Number(await command('PUBLISH', 'cancellation:cancel', JSON.stringify(message))),
    close: async () => {
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts one process, and waits until it accepts connections. @param {string[]} args */
async function begin(args) {
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  let log = '';
  /** @type {Promise<void>} */
  const ended = new Promise((resolve) => child.once('close', () => {
    process.off('exit', killWithUs);
    resolve();
  }));
  await new Promise((/** @type {(value: void) => void} */ resolve, reject) => {
    child.once('error', (error) => reject(new Error(`redis-server does not start: ${error.message}`)));
    createInterface(child.stdout).on('line', (line) => {
      log += `${line}\n`;
      if (line.includes('Ready to accept connections')) resolve();
    });
    void ended.then(() => reject(new Error(`redis-server ended\n${log}`)));
  });
  return {
    signal: (/** @type {NodeJS.Signals} */ signal) => child.kill(signal),
    kill: () => {
      child.kill('SIGKILL');
      return ended;
    },
  };
}

/** @param {number} port @param {string} channel @returns {Promise<{ message: Promise<string> }>} */
async function hear(port, channel) {
  const child = spawn('redis-cli', ['-p', String(port), 'SUBSCRIBE', channel], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  // Each published message consists of its kind, the channel, and the content.
  const next = async () => {
    for (let line = 1; line < 3; line += 1) await lines.next();
    return String((await lines.next()).value);
  };
  await next();
  return { message: next().finally(() => child.kill('SIGKILL')) };
}
