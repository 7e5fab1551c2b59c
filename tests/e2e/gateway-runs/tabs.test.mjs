// Two tabs of one app: which tab gets new sessions, and how to address the other.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectWebSocket } from 'caphost/agent';
import { connect, kinds } from '../mcp/clients.mjs';
import { runCommand } from '../support/command-line.mjs';
import { inLab } from '../support/lab.mjs';
import { useLabWithGateway } from '../support/lab-gateway.mjs';

const lab = useLabWithGateway();

/** Opens a page of the app with this title. @param {string} title */
async function tab(title) {
  const page = await lab.page();
  await inLab(page, async ({ newHost, join }, url, title) => {
    document.title = title;
    const host = await newHost();
    host.register('test.which', undefined, () => ({ title: document.title }));
    const states = /** @type {string[]} */ ([]);
    host.observe((/** @type {any} */ event) => event.type === 'gateway' && states.push(event.state));
    Object.assign(window, { states });
    await join(host, url);
  }, lab.urls.app, title);
  return page;
}

const listed = async () => (await (await fetch(`${lab.gateway.url}/api/apps`)).json()).apps[0].instances;

test('both tabs are listed with their titles, the older tab is told, and each can be addressed by its name', { timeout: 60_000 }, async (t) => {
  const first = await tab('The first');
  const second = await tab('The second');
  t.after(() => Promise.all([first, second].map((page) => page.close())));
  // This tab is now behind the other, and may paint no frames.
  await first.waitForFunction(() => /** @type {any} */ (window).states.includes('superseded'), { polling: 50 });
  const instances = await listed();
  assert.deepEqual(instances.map((/** @type {any} */ { title, latest }) => [title, latest]), [['The second', true], ['The first', false]]);
  const { out } = await runCommand(lab.gateway, ['apps']);
  assert.match(out, /lab#[\da-f]{8} +The second .* here\n.*lab#[\da-f]{8} +The first .* -\n$/);

  for (const { app, title } of [{ app: 'lab', title: 'The second' }, ...instances]) {
    const agent = await connectWebSocket(`${lab.gateway.wsUrl}/abp?app=${encodeURIComponent(app)}`, { agent: { name: 'test', version: '1' } });
    assert.deepEqual((await agent.call('test.which')).data, { title }, app);
    assert.ok((await agent.describeCapability('test.which'))?.available);
    await agent.shutdown();
    const { client } = await connect(/** @type {any} */ (kinds[0]), lab.gateway, { app: encodeURIComponent(app) });
    const { structuredContent } = await client.callTool({ name: 'test_which', arguments: {} });
    assert.deepEqual(structuredContent, { title }, app);
    await client.close();
    const { status, out: said } = await runCommand(lab.gateway, ['call', 'test.which', '--app', app]);
    assert.deepEqual([status, JSON.parse(said)], [0, { title }], app);
  }
  assert.deepEqual(await second.evaluate(() => /** @type {any} */ (window).states.includes('superseded')), false);
  const { status, err } = await runCommand(lab.gateway, ['call', 'test.which', '--app', 'lab#00000000']);
  assert.equal(status, 1);
  assert.match(err, /No app with id "lab#00000000" is connected/);
});
