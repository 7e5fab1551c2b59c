/** Runs each folder of examples/ as its README says. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { gatewayBinary, root } from '../../../scripts/paths.mjs';
import { browserIn } from '../readme/site.mjs';
import { launchPuppeteer } from '../support/browsers.mjs';
import { useDemo } from '../support/demo.mjs';
import { click, reads, until } from '../support/hands.mjs';
import { commandsOf, onPorts, runLine, startLine } from './readme.mjs';

const examples = join(root, 'examples');
const demo = useDemo();

/** A page of an example, served as its README says. @param {import('node:test').TestContext} t @param {string} name */
async function opened(t, name) {
  const [line = '', ...more] = commandsOf(name);
  assert.deepEqual(more, []);
  const { url } = await startLine(t, line);
  const browser = await launchPuppeteer();
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(url);
  return page;
}

test('parent-and-frame: the page shows the progress, and its button stops the call', { timeout: 60_000 }, async (t) => {
  const page = await opened(t, 'parent-and-frame');
  await page.waitForSelector('#start[data-ready]');
  await click(page, '#start');
  await page.waitForFunction(() => /** @type {HTMLProgressElement} */ (document.querySelector('#bar')).value >= 2);
  await click(page, '#stop');
  await reads(page, '#said', 'Stopped: returned');
  await until(page, '#start', (it) => !it.disabled);
});

test('worker: the page follows a call, and another is stopped in time', { timeout: 60_000 }, async (t) => {
  const page = await opened(t, 'worker');
  await reads(page, '#said', '9592 primes, <2> <3> <5> <7> <11> <13> <17> <19>, and a call that was stopped (returned) after half a second');
});

for (const library of ['puppeteer', 'playwright']) {
  test(`${library}: the agent lists, calls and cancels`, { timeout: 90_000 }, async (t) => {
    const folder = mkdtempSync(join(root, 'target', 'example-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const [start, line = '', ...more] = commandsOf(library);
    assert.deepEqual([start, more], ['npm start', []]);
    const output = await runLine(onPorts(line, { 8787: demo.gateway.port }), { env: { CHROME: browserIn(folder) } });
    assert.match(output, /^convert\.markdownToHtml: \S/m);
    // On a busy machine the worker of the example may still be loading.
    assert.match(output, /<h1>It works<\/h1>\nstopped: (returned|dropped|never-started)\n/);
  });
}

test('mcp: each configuration connects to the tools of the demo', { timeout: 60_000 }, async () => {
  const folder = join(examples, 'mcp');
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  assert.equal(files.length, 4);
  for (const file of files) {
    const { mcpServers, servers = mcpServers } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    const { command, args, url } = servers.caphost;
    const env = { ...process.env, PATH: dirname(gatewayBinary), CAPHOST_GATEWAY: demo.gateway.url };
    const transport = command
      ? new StdioClientTransport({ command, args, env: /** @type {any} */ (env), stderr: 'inherit' })
      : new StreamableHTTPClientTransport(new URL(new URL(url).pathname, demo.gateway.url));
    const client = new Client({ name: 'example', version: '1.0.0' });
    await client.connect(transport);
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name, title }) => name === 'convert_markdownToHtml' && title === 'convert.markdownToHtml'), file);
    await client.close();
  }
});

test('every example is listed, and has a README', () => {
  const folders = readdirSync(examples, { withFileTypes: true }).filter((it) => it.isDirectory()).map(({ name }) => name).sort();
  const listed = [...readFileSync(join(examples, 'README.md'), 'utf8').matchAll(/^\| \[([\w-]+)\]/gm)].map(([, name]) => name).sort();
  assert.deepEqual(folders, listed);
  for (const name of folders) assert.match(readFileSync(join(examples, name, 'README.md'), 'utf8'), /^# /);
});
