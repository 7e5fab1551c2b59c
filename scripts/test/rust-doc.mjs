import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../command.mjs';
import { targetDir } from '../paths.mjs';
import { countRustTests, settle } from './counts.mjs';

const wasm = 'wasm32-unknown-unknown';
const minute = 60_000;

/**
 * Compiles the examples of the crate for their target, and checks the output of rustdoc.
 *
 * @param {string[]} filters
 * @returns {Promise<import('./counts.mjs').Counts>}
 */
export async function checkRustDoc(filters) {
  const examples = await run('cargo', ['test', '--locked', '--doc', '--package', 'caphost', '--target', wasm, ...filters], {
    timeoutMs: 20 * minute,
    // The examples are only compiled: this runner does nothing.
    env: { CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER: 'node --eval 0' },
  });
  const pages = await run('cargo', ['doc', '--locked', '--no-deps', '--all-features', '--package', 'caphost', '--target', wasm], {
    timeoutMs: 20 * minute,
    env: { RUSTDOCFLAGS: '-D warnings' },
  });
  const problems = pages.code === 0 ? problemsOf(join(targetDir, wasm, 'doc', 'caphost')) : ['rustdoc has failed'];
  for (const problem of problems) console.error(problem);
  const { passed, failed, skipped } = countRustTests(examples.output);
  const ok = problems.length === 0;
  return settle(examples.code, { passed: passed + Number(ok), failed: failed + Number(!ok), skipped });
}

/** @param {string} folder of the crate's pages @returns {string[]} */
function problemsOf(folder) {
  if (!existsSync(folder)) return [`there is no ${folder}`];
  const internal = ['agent', 'call', 'capability', 'session', 'web'].filter((name) => linked(folder, `${name}/index.html`));
  const pages = readdirSync(folder).filter((name) => /^(struct|enum|trait|fn|type|attr|macro)\..*\.html$/.test(name));
  const without = pages.filter((name) => linked(folder, name) && !readFileSync(join(folder, name), 'utf8').includes('rust-example-rendered'));
  return [...internal.map((name) => `the module ${name} is documented, and is no business of an app's`), ...without.map((name) => `${name} has no example`)];
}

/** Whether the list of pages has the page. Old pages stay in the folder, and do not count. @param {string} folder @param {string} page */
const linked = (folder, page) => readFileSync(join(folder, 'all.html'), 'utf8').includes(`href="${page}"`) || readFileSync(join(folder, 'index.html'), 'utf8').includes(`href="${page}"`);
