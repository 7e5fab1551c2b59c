import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { packageDir } from '../../../scripts/paths.mjs';
import { launchFirefox, launchPlaywright, launchPuppeteer } from '../support/browsers.mjs';
import { inLab } from '../support/lab.mjs';
import { serveFiles } from '../support/static-server.mjs';

/** @type {[string, () => Promise<any>][]} */
const clients = [['Puppeteer', launchPuppeteer], ['Playwright', launchPlaywright], ['Firefox', launchFirefox]];
for (const [client, launch] of clients) {
  describe(`one host for a window, over ${client}`, () => {
    /** @type {any} */
    let browser;
    /** @type {Awaited<ReturnType<typeof serveFiles>>} */
    let server;
    before(async () => {
      // A second copy of the package, as in another bundle on the page.
      [browser, server] = await Promise.all([launch(), serveFiles({ folders: { '/copy/': packageDir } })]);
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    /** @param {import('node:test').TestContext} t */
    async function labPage(t) {
      if (!browser) return t.skip('no Firefox is installed');
      const page = await browser.newPage();
      t.after(() => page.close());
      await page.goto(server.url('/lab/'));
      await page.waitForSelector('html[data-ready]');
      return page;
    }

    test('the second copy of the package learns that there is a host, and can replace it', async (t) => {
      const page = await labPage(t);
      if (!page) return;
      const seen = await page.evaluate(async () => {
        const { lab } = /** @type {any} */ (window);
        const [first, second] = [await import(/** @type {any} */ ('/caphost/agent.js')), await import(/** @type {any} */ ('/copy/agent.js'))];
        const { createHost } = await import(/** @type {any} */ ('/copy/index.js'));
        const [a, b] = [await lab.newHost(), await createHost({ app: { id: 'b', name: 'B', version: '1' } })];
        /** @type {string[]} */
        const ran = [];
        a.register('run', {}, () => void ran.push('a'));
        b.register('run', {}, () => void ran.push('b'));
        const problems = [];
        const { port1, port2 } = new MessageChannel();
        const ways = [
          (/** @type {any} */ host, /** @type {any} */ options) => host.expose(window, options),
          (/** @type {any} */ host, /** @type {any} */ options) => host.acceptMessages(options),
          (/** @type {any} */ host, /** @type {any} */ options) => host.acceptPort(port1, options),
        ];
        for (const way of ways) {
          way(a, {});
          for (const host of [a, b]) {
            try {
              way(host, {});
              problems.push('none');
            } catch (error) {
              problems.push(`${/** @type {any} */ (error).code}: ${/** @type {any} */ (error).message}`);
            }
          }
        }
        const call = async (/** @type {any} */ agent) => {
          await agent.call('run');
          await agent.shutdown();
        };
        const abp = async () => {
          await /** @type {any} */ (window).abp.initialize(lab.INITIALIZE);
          await /** @type {any} */ (window).abp.call('run');
          await /** @type {any} */ (window).abp.shutdown();
        };
        const all = async () => {
          await call(await first.connectWindow(window));
          await call(await second.connectPort(port2));
          await abp();
        };
        await all();
        for (const way of ways) way(b, { replace: true });
        await all();
        b.close();
        const gone = /** @type {any} */ (window).abp === undefined;
        for (const way of ways.slice(0, 2)) way(a, { replace: false });
        await abp();
        a.close();
        return { app: b.app, problems, ran, gone };
      });
      const said = (/** @type {string} */ what) => Array(2).fill(`INVALID_PARAMS: This ${what} has a host already: close it first, or pass { replace: true }`);
      assert.deepEqual(seen.problems, [...said('window'), ...said('window'), ...said('port')]);
      assert.deepEqual(seen.ran, ['a', 'a', 'a', 'b', 'b', 'b', 'a']);
      assert.equal(seen.gone, true);
    });

    test('after document.open() the host listens again, and a host of the new document takes precedence', async (t) => {
      const page = await labPage(t);
      if (!page) return;
      await inLab(page, async (lab) => {
        const host = await lab.newHost();
        let ran = 0;
        host.register('run', {}, () => (ran += 1));
        host.expose();
        host.acceptMessages();
        Object.assign(window, { host, lab, agents: await import(/** @type {any} */ ('/caphost/agent.js')) });
      });
      const called = () => page.evaluate(async () => {
        const { agents } = /** @type {any} */ (window);
        const agent = await agents.connectWindow(window, { connectTimeout: 3000 });
        const { data } = await agent.call('run');
        await agent.shutdown();
        return data;
      });
      assert.equal(await called(), 1);
      if (page.setContent) await page.setContent('<!doctype html><title>Anew</title><p>Anew</p>');
      assert.equal(await called(), 2);
      await page.evaluate(() => {
        document.open();
        document.write('<!doctype html><p>Once more</p>');
        document.close();
      });
      assert.equal(await called(), 3);
      const served = await page.evaluate(async () => {
        const { lab } = /** @type {any} */ (window);
        const { createHost } = await import(/** @type {any} */ ('/copy/index.js'));
        const anew = await createHost({ app: { id: 'anew', name: 'Anew', version: '1' } });
        anew.register('run', {}, () => 'anew');
        anew.expose();
        anew.acceptMessages();
        const refused = (/** @type {() => void} */ work) => {
          try {
            work();
            return false;
          } catch {
            return true;
          }
        };
        const { abp } = /** @type {any} */ (window);
        await abp.initialize(lab.INITIALIZE);
        return [(await abp.call('run')).data, refused(() => anew.expose()), refused(() => anew.acceptMessages())];
      });
      assert.deepEqual(served, ['anew', true, true]);
      assert.equal(await called(), 'anew');
    });

    test('a page that is left after document.open() says so', async (t) => {
      const page = await labPage(t);
      if (!page) return;
      const left = await inLab(page, async (lab) => {
        const { contentWindow } = await lab.frame('/lab/');
        const host = await contentWindow.lab.newHost();
        const { port1, port2 } = new MessageChannel();
        host.acceptPort(port1);
        host.acceptMessages();
        const agents = await import(/** @type {any} */ ('/caphost/agent.js'));
        const agent = await agents.connectPort(port2, { liveness: Infinity });
        const { document } = contentWindow;
        document.open();
        document.write('<p>Anew</p>');
        document.close();
        const closed = Promise.race([agent.closed, new Promise((resolve) => setTimeout(resolve, 5000, 'nobody said so'))]);
        contentWindow.location.href = 'about:blank';
        return closed;
      });
      assert.equal(left, 'disconnected');
    });
  });
}
