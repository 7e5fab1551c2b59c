/** The gateway's program from npm: `npx caphost`, with the packages that the release publishes, installed by npm. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { must, run, which } from '../../scripts/command.mjs';
import { gatewayBinary, packageDir, root } from '../../scripts/paths.mjs';
import { startLine } from '../e2e/examples/readme.mjs';
import { launchPuppeteer } from '../e2e/support/browsers.mjs';

const { platform, arch } = process;
/** The names that the release gives to archives. @type {Record<string, string>} */
const labels = { 'linux-x64': 'linux-x64', 'linux-arm64': 'linux-arm64', 'darwin-arm64': 'macos-arm64', 'win32-x64': 'windows-x64' };
const label = labels[`${platform}-${arch}`];
/** Runs a program in a terminal. */
const terminal = platform === 'linux' ? which('script') : undefined;
const executable = platform === 'win32' ? 'caphost.exe' : 'caphost';

const APP = `<!doctype html><link rel="icon" href="data:,"><script type="module" src="app.js"></script>`;
const CODE = `
  import { createHost } from '/caphost/index.js';
  const host = await createHost({ app: { id: 'app', name: 'App', version: '1.0.0' } });
  host.register('text.words', {}, ({ text }) => text.split(' ').length);
  host.register('hold', {}, (_params, { signal }) => new Promise((_resolve, reject) => { signal.onabort = () => reject(signal.reason); }));
  host.observe(({ type, state }) => { if (type === 'gateway') document.title = state; });
  host.connectGateway('ws://' + location.host + '/abp/app');
`;

let scratch = '';
/** A project with both packages, and one without the platform's. */
const folders = { both: '', alone: '' };

/** @param {string} folder @param {string[]} tarballs */
async function project(folder, ...tarballs) {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "name": "project", "private": true, "type": "module" }');
  mkdirSync(join(folder, 'www'));
  writeFileSync(join(folder, 'www', 'index.html'), APP);
  writeFileSync(join(folder, 'www', 'app.js'), CODE);
  await must('npm', ['install', '--no-audit', '--no-fund', ...tarballs], { cwd: folder, quiet: true, timeoutMs: 120_000 });
  return folder;
}

/** @param {string} folder of a package @returns {Promise<string>} its tarball */
async function pack(folder) {
  const { code, output } = await run('npm', ['pack', '--json', '--pack-destination', scratch, folder], { cwd: scratch, quiet: true, timeoutMs: 120_000 });
  assert.equal(code, 0, output);
  const name = /"filename": "([^"]+\.tgz)"/.exec(output)?.[1];
  return join(scratch, String(name).replace('@', '').replace('/', '-'));
}

/** @param {string[]} args @param {string} [cwd] */
const npx = (args, cwd = folders.both) => run('npx', ['caphost', ...args], { cwd, quiet: true, timeoutMs: 60_000 });

describe('npx caphost', { skip: !label && `the release has no gateway for ${platform}-${arch}` }, () => {
  before(async () => {
    scratch = mkdtempSync(join(tmpdir(), 'caphost-npx-'));
    // As in the release, but quick to pack: without debug information, and hardly compressed.
    const release = join(scratch, 'release');
    mkdirSync(release);
    if (which('strip')) await must('strip', ['-o', join(release, executable), gatewayBinary], { quiet: true });
    else await must('cp', [gatewayBinary, join(release, executable)], { quiet: true });
    const archive = join(scratch, `caphost-${label}.tar.gz`);
    await must('tar', ['-C', release, '-czf', archive, executable], { quiet: true });
    const made = join(scratch, 'npm');
    await must(process.execPath, [join(root, 'scripts', 'gateway-packages.mjs'), made, archive], { quiet: true });
    assert.deepEqual(readdirSync(made).sort(), ['caphost', `gateway-${platform}-${arch}`]);
    const tarballs = [await pack(join(made, 'caphost')), await pack(join(made, `gateway-${platform}-${arch}`))];
    folders.both = await project(join(scratch, 'both'), ...tarballs);
    folders.alone = await project(join(scratch, 'alone'), await pack(packageDir));
  });
  after(() => {
    if (scratch) rmSync(scratch, { recursive: true, force: true });
  });

  test('the package of a platform is for that platform alone, and of the same version', () => {
    const main = JSON.parse(readFileSync(join(folders.both, 'node_modules', 'caphost', 'package.json'), 'utf8'));
    const name = `@caphost/gateway-${platform}-${arch}`;
    const { version, os, cpu } = JSON.parse(readFileSync(join(folders.both, 'node_modules', name, 'package.json'), 'utf8'));
    assert.deepEqual([version, os, cpu], [main.version, [platform], [arch]]);
    assert.deepEqual(main.optionalDependencies, { [name]: version });
  });

  test('a package from a checkout asks the registry for no gateway', () => {
    const { optionalDependencies } = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8'));
    assert.equal(optionalDependencies, undefined);
  });

  test('serves a page with the installed package, calls its app, and passes exit codes and Ctrl-C of a terminal on', { timeout: 120_000 }, async (t) => {
    const { url } = await startLine(t, 'npx caphost serve --port 0 --www www', { cwd: folders.both });
    const browser = await launchPuppeteer();
    t.after(() => browser.close());
    const page = await browser.newPage();
    await page.goto(url);
    await page.waitForFunction(() => document.title === 'connected', { polling: 50 });

    const called = await npx(['call', 'text.words', '--params', '{"text": "one two three"}', '--gateway', url]);
    assert.deepEqual([called.code, called.output.trim()], [0, '3']);
    const failed = await npx(['call', 'nothing', '--gateway', url]);
    assert.equal(failed.code, 1, failed.output);
    assert.match(failed.output, /nothing/);
    const wrong = await npx(['call', '--no-such-option']);
    assert.equal(wrong.code, 2, wrong.output);

    if (!terminal) return t.diagnostic('there is no `script` here, which makes a terminal');
    for (const line of ['npx caphost', 'node_modules/.bin/caphost']) {
      const held = spawn(terminal, ['-qec', `${line} call hold --gateway ${url}`, '/dev/null'], { cwd: folders.both, stdio: ['pipe', 'pipe', 'inherit'] });
      t.after(() => held.kill('SIGTERM'));
      let output = '';
      held.stdout.setEncoding('utf8').on('data', (text) => { output += text; });
      const ended = new Promise((resolve) => held.once('exit', resolve));
      while (!(await (await fetch(`${url}/api/runs`)).text()).includes('"running"')) await new Promise((resolve) => setTimeout(resolve, 50));
      held.stdin.write('\x03');
      assert.equal(await ended, 130, output);
      assert.match(output, /Cancelled, and confirmed by the app/);
    }
  });

  test('a signal ends the gateway, and whoever started the program learns how the gateway ended', { timeout: 60_000, skip: platform === 'win32' }, async (t) => {
    const program = join(folders.both, 'node_modules', '.bin', 'caphost');
    const start = async () => {
      const child = spawn(program, ['serve', '--port', '0'], { cwd: folders.both, stdio: ['ignore', 'pipe', 'inherit'] });
      t.after(() => child.kill('SIGTERM'));
      const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve([code, signal])));
      const line = await new Promise((resolve) => child.stdout.setEncoding('utf8').once('data', resolve));
      const url = /http:\S+/.exec(line)?.[0];
      assert.ok(url, line);
      return { child, ended, url };
    };
    for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT'])) {
      const { child, ended, url } = await start();
      child.kill(signal);
      assert.deepEqual(await ended, [0, null], signal);
      await assert.rejects(fetch(url), signal);
    }
    const { child, ended } = await start();
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
    process.kill(Number(children), 'SIGKILL');
    assert.deepEqual(await ended, [null, 'SIGKILL']);
  });

  test('without the package of the platform, one sentence says what to do', { timeout: 60_000 }, async () => {
    assert.ok(!existsSync(join(folders.alone, 'node_modules', '@caphost')));
    const { code, output } = await npx(['serve', '--port', '0'], folders.alone);
    assert.equal(code, 1);
    assert.match(output, new RegExp(`^caphost: the gateway's program for ${platform}-${arch} is not installed .*\`cargo install --locked caphost-gateway\`.* checkout [^\\n]*\\.\\n$`));
  });
});
