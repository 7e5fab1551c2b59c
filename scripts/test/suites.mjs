import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { buildRustApp } from '../../tests/e2e/support/rust-app.mjs';
import { build, quickParts } from '../build.mjs';
import { fits, lastMeasure, sizeBudgets, sizeReport } from '../build/size.mjs';
import { run } from '../command.mjs';
import { root } from '../paths.mjs';
import { ensurePackages } from '../setup/packages.mjs';
import { setUpTests, setUpWasm } from '../setup.mjs';
import { runCargoTests } from './cargo-tests.mjs';
import { checkDependencies } from './dependencies.mjs';
import { checkRustVersions } from './msrv.mjs';
import { runNodeTests } from './node-tests.mjs';
import { checkPackages } from './packages.mjs';
import { checkRustDoc } from './rust-doc.mjs';
import { runWasmTests } from './wasm-tests.mjs';

/**
 * @typedef {object} More
 * @property {string} [note]
 * @property {string[]} [failures] a line for each failed test
 * @property {string[]} [unsteady] a line for each test that failed at first, and passed when it ran alone
 * @property {() => Promise<Outcome>} [again] runs each failed test once more, alone; returns the new outcome of the whole suite
 *
 * @typedef {import('./counts.mjs').Counts & More} Outcome
 *
 * @typedef {object} Suite
 * @property {string} name
 * @property {string} about
 * @property {boolean} [needsBuild]
 * @property {boolean} [besideNext] runs at the same time as the next suite: both wait much, for a browser or for one crate
 * @property {(filters: string[]) => Promise<Outcome>} run
 */

const minute = 60_000;
const wasm = ['--target', 'wasm32-unknown-unknown'];

/** The outcome of a check that has no tests: it counts as one test. @param {number} code @returns {Outcome} */
const oneCheck = (code) => ({ passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 });

/** @param {string} command @param {string[]} args */
const check = async (command, ...args) => oneCheck((await run(command, args, { timeoutMs: 20 * minute })).code);

/** @param {string} tool @param {string[]} args */
const nodeTool = (tool, ...args) => check(process.execPath, join(root, 'node_modules', tool), ...args);

const tsc = (/** @type {string} */ project) => nodeTool('typescript/bin/tsc', '--project', project);

/** @param {() => Promise<unknown>} work */
async function succeeds(work) {
  try {
    await work();
    return oneCheck(0);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return oneCheck(1);
  }
}

/** All suites, in the order in which they run: quick suites that often fail come first. @type {Suite[]} */
export const suites = [
  { name: 'fmt', about: 'cargo fmt --check', run: () => check('cargo', 'fmt', '--all', '--check') },
  { name: 'eslint', about: 'eslint', run: () => nodeTool('eslint/bin/eslint.js', '--max-warnings', '0', '.') },
  { name: 'dependencies', about: 'licenses, sources, bans and advisories of crates and packages', run: () => checkDependencies() },
  { name: 'msrv', about: 'the rust-version of each crate is high enough for its dependencies', run: () => succeeds(() => checkRustVersions()) },
  {
    name: 'clippy',
    about: 'clippy, native, with all tests',
    run: () => check('cargo', 'clippy', '--locked', '--workspace', '--all-targets', '--', '-D', 'warnings'),
  },
  {
    name: 'clippy-library',
    about: 'clippy for the gateway as a library, without its command line',
    run: () => check('cargo', 'clippy', '--locked', '--package', 'caphost-gateway', '--no-default-features', '--lib', '--', '-D', 'warnings'),
  },
  {
    name: 'clippy-wasm',
    about: 'clippy for wasm32',
    run: () => check('cargo', 'clippy', '--locked', '--workspace', '--exclude', 'caphost-gateway', '--exclude', 'caphost-conformance', '--lib', '--tests', ...wasm, '--', '-D', 'warnings'),
  },
  {
    name: 'rust',
    about: 'cargo test',
    run: (filters) => runCargoTests(
      // One run after the other: in a common run, cargo would build each package with the features
      // that the tests of another need.
      [['caphost', 'caphost-gateway'], ['caphost-macros'], ['caphost-demo'], ['caphost-conformance']].map((packages) => ({ packages })),
      // Most tests of the gateway wait more than they compute.
      { filters, timeoutMs: 20 * minute, env: { RUST_TEST_THREADS: String(2 * availableParallelism()) } },
    ),
  },
  {
    name: 'model',
    about: 'the core in every interleaving of small scopes, and with mutations; CAPHOST_MODEL=8 goes through larger scopes',
    run: (filters) => runCargoTests([{ packages: ['caphost-model'], profile: 'model' }], { filters, timeoutMs: 60 * minute, env: {} }),
  },
  {
    name: 'rust-doc',
    about: 'the documentation of the crate: its examples compile, its links work, every item has an example',
    run: (filters) => checkRustDoc(filters),
  },
  { name: 'packages', about: 'the crates as published: their files, and a build from these', run: () => succeeds(() => checkPackages()) },
  {
    name: 'wasm',
    about: 'cargo test for wasm32, in headless Chromium',
    run: async (filters) => runWasmTests({
      tools: { ...await setUpWasm(), ...await setUpTests() },
      filters,
      timeoutMs: 15 * minute,
    }),
  },
  { name: 'build', about: 'package, demo and gateway', run: () => succeeds(() => build(quickParts)) },
  {
    name: 'size',
    about: `the size of each part of the package; a host's page within ${sizeBudgets.host} bytes of gzip, an agent's within ${sizeBudgets.agent}`,
    needsBuild: true,
    run: () => succeeds(async () => {
      const parts = lastMeasure();
      if (!parts) throw new Error('nothing was measured');
      console.log(sizeReport(parts));
      if (!fits(parts)) throw new Error('the package is too large');
    }),
  },
  { name: 'types-browser', about: 'tsc over what runs in a page', needsBuild: true, run: () => tsc('tsconfig.browser.json') },
  { name: 'types-demo', about: 'tsc over the demo page', needsBuild: true, run: () => tsc('www/page/tsconfig.json') },
  { name: 'types-node', about: 'tsc over scripts and tests', needsBuild: true, run: () => tsc('tsconfig.json') },
  { name: 'types', about: 'the package in a strict TypeScript project', needsBuild: true, run: () => tsc('tests/types/tsconfig.json') },
  { name: 'types-react', about: 'the same in React', needsBuild: true, run: () => tsc('tests/types/react/tsconfig.json') },
  { name: 'types-no-dom', about: 'the same without the types of a page, as in Node', needsBuild: true, run: () => tsc('tests/types/node/tsconfig.json') },
  {
    name: 'node',
    about: 'tests in Node',
    needsBuild: true,
    run: (filters) => runNodeTests('node', { filters, concurrency: 2, timeoutMs: 10 * minute }),
  },
  {
    name: 'bundlers',
    about: 'the package in real bundlers, in npm and in TypeScript',
    needsBuild: true,
    besideNext: true,
    run: async (filters) => {
      await ensurePackages((line) => console.log(line), join(root, 'tests', 'bundlers'));
      return runNodeTests('bundlers', { filters, concurrency: 1, timeoutMs: 10 * minute });
    },
  },
  {
    name: 'clients',
    about: 'published MCP clients of several years with the gateway',
    needsBuild: true,
    run: async (filters) => {
      await ensurePackages((line) => console.log(line), join(root, 'tests', 'clients'));
      return runNodeTests('clients', { filters, concurrency: 1, timeoutMs: 10 * minute });
    },
  },
  {
    name: 'conformance',
    about: 'the cancellation suite on our gateway in each dialect, and on peers that break the rules',
    needsBuild: true,
    run: async (filters) => {
      const { code } = await run('cargo', ['build', '--locked', '--package', 'caphost-conformance'], { timeoutMs: 20 * minute });
      if (code !== 0) return oneCheck(code);
      return runNodeTests('cancellation-suite', { filters, concurrency: 4, timeoutMs: 10 * minute });
    },
  },
  {
    name: 'docs',
    about: 'the documentation site: its links, contrast and keyboard, and its playground',
    needsBuild: true,
    run: async (filters) => {
      await ensurePackages((line) => console.log(line), join(root, 'docs'));
      return runNodeTests('docs', { filters, concurrency: 1, timeoutMs: 15 * minute });
    },
  },
  {
    name: 'e2e',
    about: 'tests in browsers, with the gateway',
    needsBuild: true,
    run: async (filters) => {
      await buildRustApp('dev');
      return runNodeTests('e2e', {
        filters,
        // One more file than processors: while one waits for a page or a timeout, another has work.
        concurrency: availableParallelism() + 1,
        timeoutMs: (process.env.CAPHOST_STORMS === 'full' ? 360 : 30) * minute,
        long: ['workers/conformance', 'workers/runaway', 'workers/calls', 'agent/held-thread', 'agent/attach-ends'],
      });
    },
  },
];
