import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { format } from 'node:util';
import { run } from '../../../scripts/command.mjs';
import { root } from '../../../scripts/paths.mjs';
import { launchPuppeteer } from '../support/browsers.mjs';
import { blocks, commands, named } from './blocks.mjs';
import { serveReadmeApp } from './site.mjs';

/** @type {Awaited<ReturnType<typeof serveReadmeApp>>} */
let site;
/** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
let browser;

before(async () => {
  [site, browser] = await Promise.all([serveReadmeApp(), launchPuppeteer()]);
});
after(async () => {
  await browser?.close();
  await site?.close();
});

for (const name of ['playwright.mjs', 'puppeteer.mjs']) {
  test(`${name} attaches to the app and calls it`, async () => {
    assert.equal(await site.runAgent(name), '{ words: 5 }');
  });
}

test('evaluate.mjs cancels a call with nothing but window.abp', async () => {
  assert.equal(await site.runAgent('evaluate.mjs'), format(
    { callId: 'first', cancelled: true, metadata: { stop: 'never-started' } },
    { success: false, cancelled: true, metadata: { stop: 'never-started' } },
  ));
});

test('parent.js calls the app in its frame, and gets the progress', async () => {
  const page = await browser.newPage();
  /** @type {string[]} */
  const printed = [];
  const done = new Promise((resolve) => page.on('console', (message) => {
    printed.push(message.text());
    if (message.text().startsWith('{')) resolve(undefined);
  }));
  page.on('pageerror', (error) => printed.push(String(error)));
  await page.goto(site.url('/parent.html'));
  await done;
  assert.deepEqual(printed, ['0 %', '{"words":3}']);
  await page.close();
});

test('the command line reaches the app through the gateway', async (t) => {
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.goto(site.url('/'));
  await page.waitForFunction(async () => (await (await fetch('/abp.json')).json()).app?.id === 'my-app');
  const printed = [];
  for (const line of commands.filter((it) => it.startsWith('caphost '))) printed.push(await site.runLine(line));
  assert.equal(printed.length, 4);
  const [list = '', call = '', written = '', runs = ''] = printed;
  assert.match(list, /^My app 1\.0\.0 \(my-app\)\n\ntext\.words {2}Counts the words of some documents$/);
  // Progress is printed before this.
  assert.match(call, /\{\n {2}"words": 5\n\}$/);
  assert.match(written, /Wrote words\.json \(\d+ bytes, application\/json\)$/);
  assert.equal(await site.runLine('cat words.json'), '{\n  "words": 2\n}');
  assert.equal(runs.match(/text\.words .* completed after /g)?.length, 2);
});

test('websocket.mjs, reconnect.mjs and signal.mjs reach the app through the gateway', async (t) => {
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.goto(site.url('/'));
  // The gateway announces the app's own manifest as soon as the app has registered.
  await page.waitForFunction(async () => (await (await fetch('/abp.json')).json()).app?.id === 'my-app');
  const answered = "My app [ { name: 'text.words', available: true } ]\n{ words: 5 }";
  assert.equal(await site.runAgent('websocket.mjs'), answered);
  assert.equal(await site.runAgent('reconnect.mjs'), '{ words: 3 }');
  assert.equal(await site.runAgent('signal.mjs'), format('stopped\n%O', { callId: 'mine', cancelled: true, metadata: { stop: 'returned' } }));
});

test('words.test.mjs tests the app of the guide in Node', async () => {
  const folder = mkdtempSync(join(root, 'target', 'tested-'));
  try {
    for (const name of ['words.mjs', 'words.test.mjs']) writeFileSync(join(folder, name), blocks.get(name) ?? '');
    const { code, output } = await run(process.execPath, ['--test', '--test-reporter=tap', 'words.test.mjs'], { cwd: folder, env: { NODE_TEST_CONTEXT: undefined }, quiet: true, timeoutMs: 60_000 });
    assert.equal(code, 0, output);
    assert.match(output, /^# pass 2$/m);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('the commands of the README are scripts of the repository', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.match(commands[0] ?? '', /^npm start /);
  assert.match(commands[1] ?? '', /^npm test /);
  assert.ok(scripts.start && scripts.test && scripts.build && scripts['build:gateway']);
});

test('blocks that are in two places are the same', () => {
  for (const { name, code } of named) assert.equal(code, blocks.get(name), name);
  assert.deepEqual(named.filter(({ name }, at) => named.findIndex((it) => it.name === name) < at).map(({ name }) => name).sort(), ['app.js', 'playwright.mjs', 'signal.mjs']);
});

test('the messenger of the guide is the tested one', () => {
  assert.equal(blocks.get('own-transport.mjs'), readFileSync(join(root, 'docs', 'examples', 'own-transport.mjs'), 'utf8'));
});

test('the code in the guide for React and Vue is the code of their examples', () => {
  const source = (/** @type {string[]} */ ...path) => readFileSync(join(root, 'examples', ...path), 'utf8');
  assert.equal(blocks.get('hooks.ts'), source('react', 'src', 'hooks.ts'));
  assert.equal(blocks.get('composables.js'), source('vue', 'src', 'composables.js'));
  for (const framework of ['react', 'vue']) assert.equal(blocks.get('host.js'), source(framework, 'src', 'host.js'));
});

test('the typed examples of the guide compile', async () => {
  const folder = mkdtempSync(join(root, 'target', 'typed-'));
  try {
    // The hooks need React, so the bundler tests compile them.
    const examples = [...blocks].filter(([name]) => name.endsWith('.ts') && name !== 'hooks.ts');
    for (const [name, code] of examples) writeFileSync(join(folder, name), code);
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ extends: '../../tests/types/tsconfig.json', include: ['*.ts'] }));
    const { code, output } = await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '--project', folder], { quiet: true, timeoutMs: 60_000 });
    assert.equal(code, 0, output);
    assert.equal(examples.length, 6);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('the configuration of MCP clients names an existing program', () => {
  const { command, args } = JSON.parse(blocks.get('mcp.json') ?? '').mcpServers.caphost;
  assert.deepEqual([command, ...args], ['caphost', 'mcp']);
});

test('the file that names a browser for wasm-pack is JSON that ChromeDriver accepts', () => {
  const { binary } = JSON.parse(blocks.get('webdriver.json') ?? '')['goog:chromeOptions'];
  assert.match(binary, /^\//);
});

test('these tests cover every block of the README', () => {
  const tested = ['own-transport.mjs', 'host.js', 'hooks.ts', 'composables.js', 'mcp.json', 'responses.ts', 'invoke.ts', 'map.ts', 'schemas-map.ts', 'progress.ts', 'schemas.ts', 'app.js', 'index.html', 'src/lib.rs', 'Cargo.toml', '.cargo/config.toml', 'tests/primes.rs', 'start.js', 'console.js', 'playwright.mjs', 'puppeteer.mjs', 'evaluate.mjs', 'parent.js', 'websocket.mjs', 'reconnect.mjs', 'signal.mjs', 'words.mjs', 'words.test.mjs', 'webdriver.json'];
  assert.deepEqual([...blocks.keys()].sort(), tested.sort());
});
