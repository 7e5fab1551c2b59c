import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { run, which } from '../../scripts/command.mjs';
import { gatewayBinary, root, targetDir } from '../../scripts/paths.mjs';
import { silentApp } from '../e2e/gateway-runs/silent-app.mjs';
import { startApp } from './app.mjs';
import { oddSchemas } from './odd-schemas.mjs';

/** The published clients for Python. A file with the name of each client has the exact versions of its packages. */
const CLIENTS = [
  { name: 'mcp-1.10', kind: 'mcp', onlyFull: true },
  { name: 'mcp-1.12', kind: 'mcp', onlyFull: true },
  { name: 'mcp-2', kind: 'mcp' },
  { name: 'fastmcp', kind: 'fastmcp', onlyFull: true },
].filter(({ onlyFull }) => !onlyFull || process.env.CAPHOST_STORMS === 'full');

const windows = process.platform === 'win32';
const sources = join(root, 'tests', 'clients', 'python');
const python = which('python3');

/** Makes the environment of a client, unless an environment with the same packages exists. @param {string} name */
async function environment(name) {
  const wanted = readFileSync(join(sources, `${name}.txt`), 'utf8');
  const directory = join(targetDir, 'python', name);
  const interpreter = join(directory, windows ? 'Scripts' : 'bin', 'python');
  const stamp = join(directory, 'installed.txt');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return interpreter;
  rmSync(directory, { recursive: true, force: true });
  const made = await run('python3', ['-m', 'venv', directory], { quiet: true });
  assert.equal(made.code, 0, made.output);
  const installed = await run(interpreter, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--requirement', join(sources, `${name}.txt`)], { quiet: true, timeoutMs: 300_000 });
  assert.equal(installed.code, 0, installed.output);
  writeFileSync(stamp, wanted);
  return interpreter;
}

describe('clients for Python', { skip: python ? false : 'python3 is not installed' }, () => {
  /** @type {Awaited<ReturnType<typeof startApp>>} */
  let app;
  before(async () => { app = await startApp(); });
  after(() => app.stop());

  for (const { name, kind } of CLIENTS) {
    for (const way of ['http', 'stdio']) {
      test(`${name} over ${way} lists, calls, is shown a picture, reads 3 MB, hears of progress and cancels`, async () => {
        const interpreter = await environment(name);
        const before = app.host.stats().cancelled;
        const { code, output } = await run(interpreter, [join(sources, 'tried.py'), way, kind, app.gateway.url, gatewayBinary], { quiet: true, timeoutMs: 90_000 });
        const line = output.split('\n').find((text) => text.startsWith('{'));
        assert.ok(code === 0 && line, output);
        const { tools, ...saw } = JSON.parse(line);
        assert.equal(tools.length, 5);
        assert.deepEqual(saw, {
          text: '{"count":2}',
          picture: ['image', 'image/png'],
          large: 3_000_000,
          larger: 'resource_link',
          afterProgress: 3_000_000,
          afterSilence: 3_000_000,
          progress: [0, 10_000, '0 done'],
          cancelled: true,
          after: '{"count":2}',
        });
        assert.equal(app.host.stats().cancelled, before + 1);
      });
    }
  }

  test('compiles every schema of an app that registers schemas of every kind', async () => {
    const interpreter = await environment('mcp-2');
    const odd = await silentApp(app.gateway, { id: 'odd', capabilities: oddSchemas().map((schema, at) => ({ name: `odd-${at}`, inputSchema: schema, outputSchema: schema })) });
    const { code, output } = await run(interpreter, [join(sources, 'schemas.py'), `${app.gateway.url}/mcp/odd`], { quiet: true, timeoutMs: 90_000 });
    odd.close();
    assert.equal(code, 0, output);
    assert.match(output, /^[1-9]\d{3,} schemas$/m);
  });
});
