import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { run } from '../../scripts/command.mjs';
import { gatewayBinary, root, targetDir } from '../../scripts/paths.mjs';
import { startApp } from './app.mjs';

const skip = process.env.CAPHOST_STORMS === 'full' ? false : 'compiling rmcp takes minutes: npm test -- --full clients';
const built = join(targetDir, 'rmcp');
const tried = join(built, 'debug', process.platform === 'win32' ? 'tried-rmcp.exe' : 'tried-rmcp');

if (skip) test('rmcp, the client for Rust', { skip }, () => {});
else describe('rmcp, the client for Rust', () => {
  /** @type {Awaited<ReturnType<typeof startApp>>} */
  let app;
  before(async () => {
    const manifest = join(root, 'tests', 'clients', 'rust', 'Cargo.toml');
    const { code, output } = await run('cargo', ['build', '--quiet', '--locked', '--manifest-path', manifest, '--target-dir', built], { quiet: true, timeoutMs: 500_000 });
    assert.equal(code, 0, output);
    app = await startApp();
  });
  after(() => app?.stop());

  for (const way of ['http', 'stdio']) {
    test(`rmcp over ${way} lists, calls, is shown a picture, reads 3 MB, hears of progress, and calls and cancels while a silent call lasts`, async () => {
      const { code, output } = await run(tried, [way, app.gateway.url, gatewayBinary], { quiet: true, timeoutMs: 90_000 });
      const line = output.split('\n').find((text) => text.startsWith('{'));
      assert.ok(code === 0 && line, output);
      assert.deepEqual(JSON.parse(line), {
        tools: 5,
        text: '{"count":2}',
        picture: ['image', 'image/png'],
        large: 3_000_000,
        progress: [0, 10_000, '0 done'],
        meanwhile: '{"count":3}',
        after: '{"count":2}',
      });
      const cancels = app.cancels.splice(0);
      assert.equal(cancels.length, 2);
      for (const { reason, at } of cancels) {
        assert.match(reason, /^(enough|The response stream was closed)$/);
        assert.ok(at < Date.now() - 1_000, 'the cancel came before the program ended');
      }
    });
  }
});
