/** Runs the exact commands of an example's README, in the folder that it names. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { run } from '../../../scripts/command.mjs';
import { gatewayBinary, root } from '../../../scripts/paths.mjs';

/** @param {string} name @returns {string[]} the lines of its commands, without comments */
export function commandsOf(name) {
  const readme = readFileSync(join(root, 'examples', name, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, lines = '']) => lines);
  return blocks.join('').trim().split('\n').map((line) => line.replace(/\s{2,}#.*$/, ''));
}

/** Replaces the ports in a line, because they may be in use. @param {string} line @param {Record<number, number>} ports */
export const onPorts = (line, ports) => Object.entries(ports).reduce((text, [port, free]) => text.replaceAll(`:${port}`, `:${free}`).replace(new RegExp(`(-p|--port|\\.mjs) ${port}\\b`), `$1 ${free}`), line);

/**
 * The environment that a reader may set without changing a command, as the READMEs and the
 * documentation say: a free port and the program `caphost`. npm uses the packages that it already has.
 * @param {Record<string, string>} more
 */
const surroundings = (more) => ({
  PORT: '0',
  PATH: `${dirname(gatewayBinary)}${delimiter}${process.env.PATH}`,
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  NODE_TEST_CONTEXT: undefined,
  ...more,
});

/**
 * Runs a line to its end.
 *
 * @param {string} line
 * @param {{ cwd?: string, env?: Record<string, string>, timeoutMs?: number }} [options] `cwd` is the repository when left out
 * @returns {Promise<string>} the output of the line
 */
export async function runLine(line, { cwd = root, env = {}, timeoutMs = 120_000 } = {}) {
  const { code, output } = await run('sh', ['-c', line], { cwd, env: surroundings(env), quiet: true, timeoutMs });
  assert.equal(code, 0, `${line} ended with ${code}\n${output}`);
  return output;
}

/**
 * Starts a line that keeps running.
 *
 * @param {import('node:test').TestContext} t the command ends with this test
 * @param {string} line
 * @param {{ cwd?: string, env?: Record<string, string> }} [options]
 * @returns {Promise<{ url: string, output: () => string, interrupt: () => void, ended: Promise<number | null> }>} resolves when the command has printed its address; `interrupt` is Ctrl-C
 */
export async function startLine(t, line, options) {
  const started = beginLine(t, line, options);
  const url = await started.says(/\bhttp:\/\/[\w.]+:[1-9]\d*\/?/);
  return { ...started, url: url.replace(/\/$/, '') };
}

/** The same for a line that need not listen on a port. @param {import('node:test').TestContext} t @param {string} line @param {{ cwd?: string, env?: Record<string, string> }} [options] */
export function beginLine(t, line, { cwd = root, env = {} } = {}) {
  const child = spawn('sh', ['-c', line], { cwd, env: { ...process.env, ...surroundings(env) }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const signal = (/** @type {NodeJS.Signals} */ which) => {
    // Signals the whole process group, like a terminal.
    try { process.kill(-Number(child.pid), which); } catch { /* It has ended. */ }
  };
  let output = '';
  /** @type {Set<() => void>} */
  const listeners = new Set();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += stripVTControlCharacters(text);
      for (const look of listeners) look();
    });
  }
  /** @type {Promise<number | null>} */
  const ended = new Promise((resolve) => child.once('close', resolve));
  t.after(async () => {
    signal('SIGTERM');
    const timer = setTimeout(() => signal('SIGKILL'), 5000);
    await ended;
    clearTimeout(timer);
  });
  return {
    output: () => output,
    interrupt: () => signal('SIGINT'),
    ended,
    /** @param {RegExp} wanted @returns {Promise<string>} the text that matched */
    says: (wanted) => new Promise((resolve, reject) => {
      const look = () => {
        const [found] = wanted.exec(output) ?? [];
        if (found === undefined) return;
        listeners.delete(look);
        resolve(found);
      };
      listeners.add(look);
      look();
      void ended.then(() => reject(new Error(`${line} has ended without ${wanted}\n${output}`)));
    }),
  };
}
