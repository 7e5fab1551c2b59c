/**
 * Runs the suite against the published peers of peers.json, and prints a table for docs/conformance.md:
 * node run.mjs [a word of a name]. README.md says how to install them. Reports go to target/conformance-peers.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const reports = join(root, 'target', 'conformance-peers');
const suite = process.env.SUITE ?? join(root, 'target', 'debug', 'caphost-conformance');
const races = process.env.RACES ?? '1000';
mkdirSync(reports, { recursive: true });

/** @returns {Promise<number>} */
const freePort = () => new Promise((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    server.close(() => resolve(port));
  });
});

/** @param {number} port */
async function answers(port) {
  for (let tries = 0; tries < 300; tries += 1) {
    const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    if (response) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the peer does not answer');
}

/** @typedef {{ name: string, version: string, over: string, suite: string[], command?: string[], serve?: string[], scheme?: string, path?: string, bring?: boolean }} Peer */
/** @typedef {{ id: string, outcome: string, seen?: string }} Row */

/** @param {Peer} peer @returns {Promise<{ rows: Row[], at: string, seed: number }>} */
async function run({ name, over, suite: args, command, serve, scheme = 'http', path = '', bring = false }) {
  const word = `${name}-${over}`.replace(/[^\w.-]+/g, '_');
  const common = [...args, '--json', '--seed', '1', '--races', races, '--grace', process.env.GRACE ?? '2000', '--require', 'ours', '--html', join(reports, `${word}.html`)];
  const run1 = (/** @type {string[]} */ more) => spawnSync(suite, [...common, ...more], { cwd: here, encoding: 'utf8', maxBuffer: 1e8 });
  if (command) return JSON.parse(run1(['--', ...command]).stdout);
  const port = await freePort();
  const [program = '', ...rest] = (serve ?? []).map((it) => (it === 'PORT' ? String(port) : it));
  const child = spawn(program, rest, { cwd: here, stdio: 'ignore', env: { ...process.env, PORT: String(port) } });
  try {
    await answers(port);
    const app = bring ? ['--bring', `ws://127.0.0.1:${port}/abp/app`] : [];
    return JSON.parse(run1(['--url', `${scheme}://127.0.0.1:${port}${path}`, ...app]).stdout);
  } finally {
    child.kill('SIGKILL');
  }
}

const [filter = ''] = process.argv.slice(2);
/** @type {Peer[]} */
const peers = JSON.parse(readFileSync(join(here, 'peers.json'), 'utf8'));
const broken = [];
console.log('| Peer | Version | Speaks | Held | Broken | Not offered or not run | Date |\n|---|---|---|--:|---|--:|---|');
for (const peer of peers.filter(({ name }) => name.includes(filter))) {
  const { rows, at } = await run(peer);
  const of = (/** @type {string[]} */ ...outcomes) => rows.filter(({ outcome }) => outcomes.includes(outcome));
  const ids = of('broken').map(({ id }) => id.replace(/^.*-C-/, '')).join(', ') || 'none';
  console.log(`| \`${peer.name}\` | ${peer.version} | ${peer.over} | ${of('held').length} | ${ids} | ${of('not-offered', 'not-run').length} | ${at.slice(0, 10)} |`);
  for (const row of of('broken')) broken.push(`- \`${peer.name}\` as ${peer.over}, ${row.id}: ${row.seen}`);
}
console.log(`\n${broken.join('\n')}`);
