import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { root } from '../../paths.mjs';
import { chart } from './chart.mjs';
import { firstAnswers, registrations, startApps } from './fresh-pages.mjs';
import { memory } from './memory.mjs';
import { groups, verdicts } from './plan.mjs';
import { overSockets, throughPuppeteer } from './remote.mjs';
import { text } from './report.mjs';
import { openBench, versionOf } from './setting.mjs';
import { summarise } from './statistics.mjs';

/**
 * Measures calls in a page next to other libraries, in the same browser and the same minutes.
 *
 * @typedef {object} Options
 * @property {boolean} quick under two minutes: fewer rounds, smaller crowds
 * @property {string | undefined} against the folder of another build of the package, measured as "before"
 * @property {string[]} only ids of groups; all groups when empty
 * @property {string | undefined} out the folder for page.json and page.svg
 *
 * @typedef {{ title: string, base: string, rows: import('./statistics.mjs').Row[] }} Measured
 *
 * @typedef {object} Report
 * @property {Record<string, string | number | boolean>} machine
 * @property {Record<string, string>} versions
 * @property {string[]} missing
 * @property {Record<string, Measured>} groups times in microseconds; `start`, `apps` and `register` in milliseconds
 * @property {import('./apps.mjs').Weight[]} sizes
 * @property {import('./memory.mjs').Memory[]} memory
 * @property {import('./plan.mjs').Verdict[]} targets
 */

/** @param {Options} options */
export async function benchmarkPage({ quick, against, only, out }) {
  const bench = await openBench({ quick, against });
  const wanted = (/** @type {string} */ id) => only.length === 0 || only.includes(id);
  const sampling = quick ? { rounds: 7, roundMs: 8 } : { rounds: 31, roundMs: 20 };
  const crowd = quick ? { inFlight: 20_000, capabilities: 2000, cancels: [100, 1000] } : { inFlight: 100_000, capabilities: 10_000, cancels: [100, 10_000] };
  const setting = { builds: bench.builds.map(({ name, at }) => ({ name, at })), peers: bench.peers, rust: bench.rust, crowd };
  /** @type {Report} */
  const report = {
    machine: { cores: availableParallelism(), browser: bench.browser, node: process.versions.node, rounds: sampling.rounds, quick },
    versions: { ...Object.fromEntries(bench.builds.map(({ name, folder }) => [name, versionOf(folder)])), ...bench.versions },
    missing: bench.missing,
    groups: {},
    sizes: [],
    memory: [],
    targets: [],
  };
  try {
    for (const { id, title, base, from } of groups.filter((group) => wanted(group.id))) {
      progress(title);
      // Crowds have many contenders, and each of their samples takes long.
      const own = base === '' ? { ...sampling, rounds: Math.min(7, sampling.rounds), collect: id === 'manyCancels' } : sampling;
      const samples = from === 'sockets' ? await overSockets(bench, own)
        : from === 'puppeteer' ? await throughPuppeteer(bench, own)
          : await bench.inFreshPage('groups', 'measureGroup', id, setting, own);
      if (samples.length > 0) report.groups[id] = { title, base, rows: summarise(samples, base) };
    }
    if (wanted('register')) {
      progress('Registering');
      report.groups.register = { title: 'Registering, milliseconds', base: '', rows: await registrations(bench) };
    }
    if (wanted('start')) {
      progress('Starting');
      report.groups.start = { title: 'From an empty page to the first answer, milliseconds', base: '', rows: await firstAnswers(bench) };
    }
    if (wanted('apps')) {
      progress('Sizes');
      const { starts, weights } = await startApps(bench);
      report.groups.apps = { title: 'The same app, bundled: to its first answer over a MessagePort, milliseconds', base: 'ABP by hand', rows: starts };
      report.sizes = weights;
    }
    if (wanted('memory')) {
      progress('Memory');
      report.memory = await memory(bench);
    }
  } finally {
    await bench.close();
  }
  report.targets = verdicts(report.groups, report.memory);
  console.log(text(report));
  if (out !== undefined) write(report, out);
}

/** @param {Report} report @param {string} out */
function write(report, out) {
  const rounded = (/** @type {string} */ _, /** @type {unknown} */ value) => (typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value);
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, 'page.json'), `${JSON.stringify(report, rounded, 2)}\n`);
  writeFileSync(join(out, 'page.svg'), chart(report));
}

/** The folder with the figures of the documentation. */
export const documented = join(root, 'docs', 'benchmarks');

const started = performance.now();

/** @param {string} what */
const progress = (what) => console.error(`bench: ${Math.round((performance.now() - started) / 1000)} s: ${what}`);
