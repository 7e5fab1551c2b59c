import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findFirefox } from '../../scripts/browser/find.mjs';
import { automationClients, launchFirefox } from './support/browsers.mjs';
import { serveTwoOrigins } from './support/static-server.mjs';

/** @type {Array<{ name: string, launch: () => Promise<import('./support/browsers.mjs').Launched<any> | undefined> }>} */
const clients = [...automationClients];
if (findFirefox() !== undefined) clients.push({ name: 'Firefox', launch: launchFirefox });

describe('the test support', () => {
  for (const { name, launch } of clients) {
    test(`${name} drives a page of each of two origins`, async (t) => {
      const servers = await serveTwoOrigins({ pages: { '/empty': '<!doctype html><title>empty</title>' } });
      t.after(() => servers.close());
      const client = await launch();
      assert.ok(client);
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
