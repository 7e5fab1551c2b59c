import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gatewayBinary } from '../../scripts/paths.mjs';
import { startApp } from './app.mjs';
import { here, patient, runSuite, those } from './suite.mjs';

describe('the cancellation suite on our MCP', { concurrency: 2 }, () => {
  /** @type {Awaited<ReturnType<typeof startApp>>} */
  let app;
  before(async () => { app = await startApp(); });
  after(() => app.stop());

  test('over HTTP everything holds, but for what is expected', async () => {
    const found = await runSuite('mcp', '--url', `${app.gateway.url}/mcp`, '--expected', here('mcp-expected.txt'), ...patient);
    assert.equal(found.code, 0, found.output);
    assert.deepEqual(those(found, 'broken'), ['MCP-C-09']);
    assert.deepEqual(those(found, 'not-run'), ['MCP-C-10']);
    assert.equal(those(found, 'held').length, 20);
  });

  test('over standard input and output everything holds', async () => {
    const found = await runSuite('mcp', ...patient, '--', gatewayBinary, 'mcp', '--gateway', app.gateway.url);
    assert.equal(found.code, 0, found.output);
    assert.deepEqual(those(found, 'not-run'), ['MCP-C-08', 'MCP-C-09', 'MCP-C-21']);
    assert.equal(those(found, 'held').length, 19);
  });
});
