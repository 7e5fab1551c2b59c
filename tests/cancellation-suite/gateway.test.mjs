import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gatewayBinary } from '../../scripts/paths.mjs';
import { startApp } from './app.mjs';
import { patient, runSuite, those } from './suite.mjs';

describe('the cancellation suite on our gateway: all that is run holds', { concurrency: 3 }, () => {
  /** @type {Awaited<ReturnType<typeof startApp>>} */
  let app;
  before(async () => { app = await startApp(); });
  after(() => app.stop());

  /** @param {string[]} args @param {string[]} notRun @param {string[]} command */
  async function holds(args, notRun, ...command) {
    const found = await runSuite(String(args[0]), ...args.slice(1), ...patient, ...command);
    assert.equal(found.code, 0, found.output);
    assert.deepEqual(those(found, 'broken'), [], found.output);
    assert.deepEqual([...those(found, 'not-run'), ...those(found, 'not-offered')], notRun, found.output);
    assert.ok(found.rows.length > notRun.length);
  }

  test('ABP', () => holds(['abp', '--url', `${app.gateway.wsUrl}/abp`], []));
  test('JSON-RPC in ACP style', () => holds(['jsonrpc', '--style', 'acp', '--url', `${app.gateway.wsUrl}/jsonrpc`], ['RPC-C-22']));
  test('JSON-RPC in LSP style', () => holds(['jsonrpc', '--style', 'lsp', '--url', `${app.gateway.wsUrl}/jsonrpc`], ['RPC-C-22']));
  test('caphost stdio', () => holds(['jsonrpc', '--style', 'lsp'], ['RPC-C-08', 'RPC-C-21'], '--', gatewayBinary, 'stdio', '--gateway', app.gateway.url));
  test('RAP', () => holds(['rap', '--url', `${app.gateway.url}/rap/counting`], []));
  test('the ContextForge API', () => holds(['contextforge', '--url', app.gateway.url], []));
});
