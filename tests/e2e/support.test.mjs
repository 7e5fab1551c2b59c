import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { automationClients } from './support/browsers.mjs';
import { serveTwoOrigins } from './support/static-server.mjs';

describe('the test support', () => {
  for (const { name, launch } of automationClients) {
    test(`${name} drives a page of each of two origins`, async (t) => {
      const servers = await serveTwoOrigins({ pages: { '/empty': '<!doctype html><title>empty</title>' } });
      t.after(() => servers.close());
      const client = await launch();
      t.after(() => client.close());
      assert.match(client.version, /^(\w+\/)?\d+\./);
      const page = await client.newPage();
      const origins = [];
      for (const server of [servers.first, servers.second]) {
        await page.goto(server.url('/empty'));
        assert.equal(await page.evaluate(() => 1 + 1), 2);
        origins.push(await page.evaluate(() => location.origin));
      }
      assert.deepEqual(origins, [servers.first.origin, servers.second.origin]);
      assert.notEqual(origins[0], origins[1]);
    });
  }
});
