import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findFirefox } from '../../scripts/browser/find.mjs';
import { automationClients, launchFirefox, launchPuppeteer } from './support/browsers.mjs';
import { click, press, reads, textOf, type, until } from './support/hands.mjs';
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

  test('a click, a key and a look wait for what they need', { timeout: 60_000 }, async (t) => {
    const client = await launchPuppeteer();
    t.after(() => client.close());
    const page = await client.newPage();
    // Each of these becomes ready late in a different way.
    await page.setContent(`<!doctype html><body><p id="said"></p><script>
      const said = document.querySelector('#said');
      const later = (ms, work) => setTimeout(work, ms);
      const button = (id, more = '') => {
        document.body.insertAdjacentHTML('beforeend', '<button id="' + id + '" ' + more + '>' + id + '</button>');
        const it = document.querySelector('#' + id);
        it.onclick = () => {
          said.textContent += id + ' ';
          // A click takes the focus, so the field gets the focus after the last click.
          if (id === 'replaced') later(300, () => document.querySelector('#field').focus());
        };
        return it;
      };
      later(300, () => button('missing'));
      const disabled = button('disabled', 'disabled');
      later(600, () => (disabled.disabled = false));
      const hidden = button('hidden', 'hidden');
      later(900, () => (hidden.hidden = false));
      const replaced = button('replaced', 'disabled');
      later(1200, () => { replaced.remove(); button('replaced'); });
      document.body.insertAdjacentHTML('beforeend', '<input id="field">');
      later(1800, () => (said.title = 'ready'));
    </script>`);
    for (const id of ['missing', 'disabled', 'hidden', 'replaced']) await click(page, `#${id}`);
    await type(page, '#field', 'text');
    await press(page, '#field', 'Backspace');
    await until(page, '#field', (it) => it.value === 'tex');
    await until(page, '#said', (it) => it.title === 'ready');
    await reads(page, '#said', 'missing disabled hidden replaced');
    assert.equal(await textOf(page, '#missing'), 'missing');
  });
});
