import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { useDemo } from '../support/demo.mjs';
import { connect, kinds } from './clients.mjs';

const demo = useDemo();

/** The page that is open now. @type {import('puppeteer-core').Page | undefined} */
let page;

for (const kind of kinds) {
  describe(kind.name, () => {
    test('is notified of tools that come and go with the page', { timeout: 60_000 }, async () => {
      /** @type {string[][]} */
      const told = [];
      /** @type {() => void} */
      let wake = () => {};
      const it = await connect(kind, demo.gateway, {
        app: 'caphost-demo',
        onTools: (names) => {
          told.push(names);
          wake();
        },
      });
      /** @param {(names: string[]) => boolean} is */
      const until = async (is) => {
        while (!told.some(is)) await new Promise((/** @type {(value: void) => void} */ resolve) => { wake = resolve; });
        told.length = 0;
      };
      const { tools } = await it.client.listTools();
      assert.ok(tools.length > 3);
      // The stream for change notifications opens in parallel, so it needs some time.
      await new Promise((resolve) => setTimeout(resolve, 500));
      await (page ?? demo.page).close();
      await until((names) => names.length === 0);
      const gone = await it.client.callTool({ name: 'export.pdf', arguments: { markdown: 'x' } });
      assert.equal(gone.isError, true);
      assert.match(/** @type {any} */ (gone.content[0]).text, /^DISCONNECTED: /);
      page = await demo.open();
      await until((names) => names.includes('export_pdf'));
      const back = await it.client.callTool({ name: 'export.pdf', arguments: { markdown: 'x' } });
      assert.equal(back.isError ?? false, false);
      await it.client.close();
      assert.deepEqual(it.complaints, []);
    });
  });
}

test('a missing app has no tools, and a call of a tool gives a readable error', async () => {
  for (const kind of kinds) {
    const it = await connect(kind, demo.gateway, { app: 'nope' });
    assert.deepEqual((await it.client.listTools()).tools, [], kind.name);
    assert.match(/** @type {any} */ (it.client.getInstructions()), /^No app with id "nope" is connected. Connected: caphost-demo. .*--app.* as soon as it connects.$/, kind.name);
    const called = await it.client.callTool({ name: 'export.pdf' });
    assert.match(/** @type {any} */ (called.content[0]).text, /No app with id "nope" is connected.*caphost-demo.*--app/, kind.name);
    await it.client.close();
  }
});
