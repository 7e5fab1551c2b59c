import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectWebSocket } from 'caphost/agent';
import { launchPuppeteer } from '../support/browsers.mjs';
import { startGateway } from '../support/gateway.mjs';

const secret = 'a-secret-of-the-demo';

test('the page takes the token of its gateway from its address, and keeps it while its tab is there', { timeout: 120_000 }, async () => {
  const [gateway, browser] = await Promise.all([
    startGateway({ args: ['--token', `app=${secret}`, '--token', 'admin=a-secret-of-an-admin'] }),
    launchPuppeteer(),
  ]);
  try {
    const page = await browser.newPage();
    await page.goto(`${gateway.url}/`);
    await page.waitForSelector('#gateway[data-state=refused]');

    // Only the fragment of the address changes.
    await page.goto(`${gateway.url}/#token=${secret}`);
    await page.waitForSelector('#gateway[data-state=connected]');
    assert.equal(page.url(), `${gateway.url}/`, 'it is out of sight');
    await page.reload();
    await page.waitForSelector('#gateway[data-state=connected]');

    // Everybody who sees the runs sees the agent's own name.
    const agent = await connectWebSocket(`${gateway.wsUrl}/abp?token=a-secret-of-an-admin`, { agent: { name: 'Reader', version: '1' } });
    await agent.call('convert.markdownToHtml', { markdown: '# One' }, { callId: 'mine' });
    await agent.shutdown();
    const answer = await fetch(`${gateway.url}/api/runs/mine`, { headers: { authorization: 'Bearer a-secret-of-an-admin' } });
    assert.equal((await answer.json()).agent, 'Reader');
  } finally {
    await browser.close();
    await gateway.stop();
  }
});
