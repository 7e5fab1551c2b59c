// Builds everything and serves the demo, its package and the gateway on PORT (8787).

import { spawn } from 'node:child_process';
import { build, quickParts } from './build.mjs';
import { gatewayBinary, root } from './paths.mjs';

try {
  await build(quickParts);
  const port = process.env.PORT || '8787';
  const server = spawn(gatewayBinary, ['serve', '--port', port, ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.removeAllListeners(signal);
    process.on(signal, () => server.kill(signal));
  }
  server.once('error', (error) => {
    console.error(`start: ${error.message}`);
    process.exitCode = 1;
  });
  server.once('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' || signal === 'SIGTERM' ? 0 : 1);
  });
} catch (error) {
  console.error(`start: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
