import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { attach } from 'caphost/automation';
import { automationClients } from '../support/browsers.mjs';
import { serveFiles } from '../support/static-server.mjs';
import { abandoned, codeOf, confirmed, crash, plainAppIn, settled } from './pages.mjs';

for (const { name, launch } of automationClients) {
  describe(`the end of a page that ${name} drives`, () => {
    const { appPage, url } = plainAppIn({ before, after }, launch);

    /**
     * A call that does not end by itself, a cancel of the call that is not answered, and the check of
     * how both must end.
     *
     * @param {any} page
     */
    async function pending(page) {
      const agent = await attach(page, { grace: 60_000 });
      const call = agent.call('hold', {}, { callId: 'held', timeout: 60_000 });
      await settled(agent);
      const cancel = agent.cancel('held');
      return {
        agent,
        async areDisconnected() {
          const [response, answer] = await Promise.all([call, cancel]);
          assert.deepEqual([codeOf(response), response.cancelled, codeOf(answer), answer.cancelled], ['DISCONNECTED', undefined, 'DISCONNECTED', false]);
          assert.equal(response.error?.retryable, true);
          assert.equal(await agent.closed, 'disconnected');
          assert.equal(codeOf(await agent.call('echo')), 'DISCONNECTED');
          assert.equal(codeOf(await agent.cancel('held')), 'DISCONNECTED');
        },
      };
    }

    const ends = /** @type {Record<string, (page: any) => unknown>} */ ({
      'a navigation to the same origin': (page) => page.goto(url('/empty')),
      'a navigation to another origin': (page) => page.goto('data:text/html,elsewhere'),
      'a navigation to about:blank': (page) => page.goto('about:blank'),
      'a navigation to another host': (page) => page.goto(url('/empty').replace('127.0.0.1', 'localhost')),
      'a reload': (page) => page.reload(),
      'a navigation by the page itself': (page) => page.evaluate(() => { location.search = '?again'; }),
      'going back': (page) => page.goBack(),
      'closing the page': (page) => page.close(),
      'a crash': (page) => crash(page),
    });
    for (const [end, make] of Object.entries(ends)) {
      test(`${end} settles every pending call with DISCONNECTED`, async (t) => {
        const page = await appPage(t, 'cancel=never');
        const { areDisconnected } = await pending(page);
        // Not awaited: if its document goes away, an evaluation may never settle.
        Promise.resolve(make(page)).catch(() => {});
        await areDisconnected();
      });
    }

    test('so does a navigation while the main thread is busy', async (t) => {
      const page = await appPage(t, 'cancel=never');
      const { areDisconnected } = await pending(page);
      const busy = page.evaluate(() => {
        setTimeout(() => { for (const until = Date.now() + 1500; Date.now() < until;); });
      });
      await busy;
      const gone = page.goto(url('/empty'));
      await areDisconnected();
      await gone;
    });

    test('so does closing a page whose main thread never comes back', async (t) => {
      const page = await appPage(t, 'cancel=never');
      const { areDisconnected } = await pending(page);
      await page.evaluate(() => { setTimeout(() => { for (;;); }); });
      const closed = page.close().catch(() => {});
      await areDisconnected();
      await closed;
    });

    test('so does the end of the browser', async () => {
      const own = await launch();
      const page = /** @type {any} */ (await own.newPage());
      await page.goto(url('/plain-app/?cancel=never'));
      const { areDisconnected } = await pending(page);
      await own.close();
      await areDisconnected();
    });

    test('so does the loss of its process', async () => {
      const own = /** @type {any} */ (await launch());
      const page = await own.newPage();
      await page.goto(url('/plain-app/?cancel=never'));
      const { areDisconnected } = await pending(page);
      const session = own.browser.target ? await own.browser.target().createCDPSession() : await own.browser.newBrowserCDPSession();
      session.send('Browser.crash').catch(() => {});
      await areDisconnected();
      await own.close().catch(() => {});
    });

    for (const [end, make] of /** @type {[string, (page: any) => unknown][]} */ ([
      ['closing the page', (page) => page.close()],
      ['a navigation', (page) => page.goto(url('/empty'))],
    ])) {
      test(`${end} does so even if no evaluation ever settles again`, async (t) => {
        const page = await appPage(t, 'cancel=never');
        let stuck = false;
        const unlessStuck = async (/** @type {Promise<unknown>} */ answer) => {
          const value = await answer.catch((error) => error);
          if (stuck) await new Promise(() => {});
          if (value instanceof Error) throw value;
          return value;
        };
        const stubborn = new Proxy(page, {
          get(target, key) {
            if (key !== 'evaluateHandle') return typeof target[key] === 'function' ? target[key].bind(target) : target[key];
            return async (/** @type {any[]} */ ...work) => {
              const handle = await target.evaluateHandle(...work);
              return { evaluate: (/** @type {any[]} */ ...args) => unlessStuck(handle.evaluate(...args)), dispose: () => handle.dispose() };
            };
          },
        });
        const { areDisconnected } = await pending(stubborn);
        stuck = true;
        await make(page);
        await areDisconnected();
      });
    }

    test('a change of the address within the document ends nothing', async (t) => {
      const page = await appPage(t);
      const agent = await attach(page);
      const call = agent.call('hold', {}, { callId: 'held' });
      await settled(agent);
      await page.evaluate(() => { location.hash = 'somewhere'; });
      await page.evaluate(() => { history.pushState({}, '', '?pushed'); history.replaceState({}, '', '?replaced'); });
      await page.goto(url('/plain-app/?replaced#else'));
      await page.evaluate(() => {
        const frame = document.createElement('iframe');
        const loaded = new Promise((resolve) => { frame.onload = resolve; });
        frame.src = '/empty';
        document.body.append(frame);
        return loaded;
      });
      assert.equal((await agent.call('echo', { a: 1 })).data.a, 1);
      assert.deepEqual(await agent.cancel('held'), confirmed('held', 'abandoned'));
      assert.deepEqual(await call, abandoned);
      await agent.shutdown();
    });

    test('a page may be attached to while it is still loading', async (t) => {
      /** @type {(body: string) => void} */
      let release = () => {};
      const slow = createServer((_, response) => { release = (body) => response.end(body); });
      await new Promise((resolve) => { slow.listen(0, '127.0.0.1', () => resolve(undefined)); });
      t.after(() => slow.close());
      const { port } = /** @type {import('node:net').AddressInfo} */ (slow.address());
      const page = await appPage(t);
      const html = `<!doctype html><script>import('/plain-app/page.js')</script><script src="http://127.0.0.1:${port}/"></script>`;
      const server = await serveFiles({ pages: { '/loading': html } });
      t.after(() => server.close());
      const loaded = page.goto(server.url('/loading'));
      const agent = await attach(page);
      const call = agent.call('hold', {}, { callId: 'held' });
      assert.equal(await page.evaluate(() => document.readyState), 'loading');
      release('');
      await loaded;
      assert.equal((await agent.call('echo', { a: 1 })).data.a, 1);
      assert.deepEqual(await agent.cancel('held'), confirmed('held', 'abandoned'));
      assert.deepEqual(await call, abandoned);
    });
  });
}
