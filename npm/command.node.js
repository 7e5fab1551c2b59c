#!/usr/bin/env node
// The program `caphost` of the npm package: runs the gateway's program, which comes in a package of its own for each
// platform.

import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const { platform, arch } = process;
const name = `@caphost/gateway-${platform}-${arch}`;

/** @returns {string | undefined} the path of the program, if its package is installed */
function installed() {
  try {
    return createRequire(import.meta.url).resolve(`${name}/caphost${platform === 'win32' ? '.exe' : ''}`);
  } catch {
    return undefined;
  }
}

/** @param {string} problem */
function fail(problem) {
  console.error(`caphost: ${problem}`);
  process.exitCode = 1;
}

/** @param {string} program */
function run(program) {
  // The gateway serves this package under /caphost/.
  const env = { CAPHOST_PACKAGE: fileURLToPath(new URL('..', import.meta.url)), ...process.env };
  const child = spawn(program, process.argv.slice(2), { stdio: 'inherit', env });
  // A terminal sends Ctrl-C to the program, too, and a second Ctrl-C means to exit at once.
  const inTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !inTerminal) child.kill(signal);
    });
  }
  child.once('error', (error) => fail(`${program} cannot be started: ${error.message}`));
  child.once('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[/** @type {NodeJS.Signals} */ (signal)];
    if (!signal) return;
    // Whoever waits for this process learns of the signal.
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

const program = installed();
if (program) run(program);
else fail(`the gateway's program for ${platform}-${arch} is not installed (${name}, an optional dependency): install it with \`cargo install --locked caphost-gateway\`, or with \`cargo install --locked --path gateway\` in a checkout of caphost, and run \`caphost\` in place of \`npx caphost\`.`);
