import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startGateway } from '../e2e/support/gateway.mjs';
import { patient, runSuite, those } from './suite.mjs';

describe('the suite brings its own app', () => {
  test('to a gateway without any', async () => {
    const gateway = await startGateway();
    try {
      const bring = ['--bring', `${gateway.wsUrl}/abp/app`, ...patient];
      const abp = await runSuite('abp', '--url', `${gateway.wsUrl}/abp`, ...bring);
      assert.deepEqual(those(abp, 'broken'), [], abp.output);
      assert.equal(those(abp, 'held').length, 21, abp.output);
      const mcp = await runSuite('mcp', '--url', `${gateway.url}/mcp`, '--only', 'C-01,C-03,C-04,C-22', ...bring);
      assert.equal(those(mcp, 'held').length, 4, mcp.output);
      assert.doesNotMatch(await (await fetch(`${gateway.url}/api/apps`)).text(), /caphost-conformance/, 'its app has left');
    } finally {
      await gateway.stop();
    }
  });

  test('and tells of a gateway that refuses it, or is not there', async () => {
    const gateway = await startGateway({ args: ['--token', 'app=secret-of-an-app-1234', '--token', 'agent=secret-of-an-agent-1234'] });
    try {
      const refused = await runSuite('abp', '--url', `${gateway.wsUrl}/abp`, '--bring', `${gateway.wsUrl}/abp/app`);
      assert.equal(refused.code, 1);
      assert.match(refused.output, /refuses|401/);
      const nowhere = await runSuite('abp', '--url', 'ws://127.0.0.1:1/abp', '--bring', 'ws://127.0.0.1:1/abp/app');
      assert.equal(nowhere.code, 1);
    } finally {
      await gateway.stop();
    }
  });
});
