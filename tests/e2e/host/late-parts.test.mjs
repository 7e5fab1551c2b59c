import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { launchPuppeteer } from '../support/browsers.mjs';
import { startGateway } from '../support/gateway.mjs';
import { inLab } from '../support/lab.mjs';
import { serveFiles } from '../support/static-server.mjs';

// Firefox remembers a failed import by its URL.
for (const [name, launch] of /** @type {[string, () => Promise<any>][]} */ ([['Chromium', launchPuppeteer]])) {
  describe(`a part of the package whose first request fails, in ${name}`, () => {
    /** @type {any} */
    let browser;
    /** @type {Awaited<ReturnType<typeof serveFiles>>} */
    let server;
    before(async () => {
      [browser, server] = await Promise.all([launch(), serveFiles()]);
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    /** Opens a page in which this many requests for a part fail. @param {import('node:test').TestContext} t @param {number} times */
    async function failing(t, times) {
      if (!browser) return t.skip('no Firefox is installed');
      const page = await browser.newPage();
      t.after(() => page.close());
      await page.goto(server.url('/lab/'));
      await page.waitForSelector('html[data-ready]');
      const limit = { times };
      /** @type {string[]} */
      const failed = [];
      await page.setRequestInterception(true);
      page.on('request', (/** @type {any} */ request) => {
        if (!/chunk-.*\.js/.test(request.url()) || failed.length >= limit.times) return request.continue();
        failed.push(request.url());
        return request.respond({ status: 503, body: 'Unavailable' });
      });
      await page.evaluate(() => {
        /** @type {string[]} */
        const uncaught = [];
        Object.assign(window, { uncaught });
        addEventListener('unhandledrejection', ({ reason }) => uncaught.push(String(reason)));
        addEventListener('error', ({ message }) => uncaught.push(message));
      });
      /** @returns {Promise<string[]>} */
      const uncaught = () => page.evaluate(() => /** @type {any} */ (window).uncaught);
      return { page, limit, failed, uncaught };
    }

    test('the host connects to the gateway nevertheless', async (t) => {
      const opened = await failing(t, 1);
      if (!opened) return;
      const gateway = await startGateway({ args: ['--allow-origin', server.origin] });
      t.after(() => gateway.stop());
      const states = await inLab(opened.page, async ({ createHost }, url) => {
        const host = await createHost({ app: { id: 'lab', name: 'Laboratory', version: '1' } });
        /** @type {string[]} */
        const states = [];
        await new Promise((resolve) => {
          host.observe((/** @type {any} */ event) => {
            if (event.type !== 'gateway') return;
            states.push(event.error?.code ?? event.state);
            if (event.state === 'connected') resolve(undefined);
          });
          host.connectGateway(url);
        });
        return states;
      }, `${gateway.wsUrl}/abp/app`);
      assert.deepEqual(states.filter((/** @type {string} */ it) => it !== 'connecting'), ['TRANSPORT_ERROR', 'connected']);
      assert.deepEqual([opened.failed.length, await opened.uncaught()], [1, []]);
    });

    test('the tools of the browser, JSON-RPC and schemas work nevertheless', async (t) => {
      for (const part of ['tools', 'json-rpc', 'schema']) {
        const opened = await failing(t, 1);
        if (!opened) return;
        const seen = await inLab(opened.page, async ({ createHost, rawPort, inPage }, part) => {
          const host = await createHost({ app: { id: 'lab', name: 'Laboratory', version: '1' } });
          if (part === 'tools') {
            host.register('tool', {}, () => 1);
            return new Promise((resolve) => {
              const registerTool = (/** @type {any} */ tool) => resolve(typeof tool.name);
              host.expose({ navigator: { modelContext: { registerTool } } }, { webmcp: true });
            });
          }
          if (part === 'json-rpc') {
            const raw = await rawPort(host, false);
            raw.post({ jsonrpc: '2.0', id: 1, method: 'ping' });
            return (await raw.hear((/** @type {any} */ it) => it.id === 1)).result;
          }
          const inputSchema = { type: 'object', properties: { n: { type: 'integer' } } };
          host.register('check', { inputSchema }, (/** @type {any} */ { n }) => n);
          const abp = await inPage(host);
          return [(await abp.call('check', { n: 1 })).data, (await abp.call('check', { n: 'x' })).error?.code];
        }, part);
        assert.deepEqual(seen, { tools: 'string', 'json-rpc': {}, schema: [1, 'INVALID_TYPE'] }[part]);
        assert.deepEqual([opened.failed.length, await opened.uncaught()], [1, []], part);
      }
    });

    test('an agent connects to a window and to a gateway, and lends functions, nevertheless', async (t) => {
      const opened = await failing(t, 0);
      if (!opened) return;
      const gateway = await startGateway({ args: ['--allow-origin', server.origin] });
      t.after(() => gateway.stop());
      await inLab(opened.page, async ({ frame }, url) => {
        const { contentWindow: other } = await frame('/lab/');
        const host = await other.lab.createHost({ app: { id: 'lab', name: 'Laboratory', version: '1' } });
        host.register('ask', {}, (/** @type {any} */ { what }) => what?.() ?? 'nothing');
        host.acceptMessages();
        await new Promise((resolve) => {
          host.observe((/** @type {any} */ { type, state }) => type === 'gateway' && state === 'connected' && resolve(undefined));
          host.connectGateway(url);
        });
        Object.assign(window, { other });
      }, `${gateway.wsUrl}/abp/app`);
      for (const [times, way] of /** @type {const} */ ([[1, 'window'], [2, 'gateway'], [3, 'functions']])) {
        opened.limit.times = times;
        const said = await inLab(opened.page, async ({ agents }, { way, url }) => {
          const { other } = /** @type {any} */ (window);
          const agent = way === 'gateway' ? await agents.connectWebSocket(url) : await agents.connectWindow(other);
          return agent.invoke('ask', way === 'functions' ? { what: () => 'asked' } : {});
        }, { way, url: `${gateway.wsUrl}/abp` });
        assert.deepEqual([said, opened.failed.length], [way === 'functions' ? 'asked' : 'nothing', times], way);
      }
      assert.deepEqual(await opened.uncaught(), []);
    });

    test('if the part for JSON-RPC does not load, this is reported, and the next message loads it again', async (t) => {
      const opened = await failing(t, Infinity);
      if (!opened) return;
      const { page } = opened;
      await inLab(page, async (lab) => {
        const raw = await lab.rawPort(await lab.createHost({ app: { id: 'lab', name: 'Laboratory', version: '1' } }), false);
        Object.assign(window, {
          ask: async (/** @type {number} */ id) => {
            raw.post({ jsonrpc: '2.0', id, method: 'ping' });
            const { result, error } = await raw.hear((/** @type {any} */ it) => it.id === id);
            return result ?? error.code;
          },
        });
      });
      const ask = (/** @type {number} */ number) => page.evaluate((/** @type {number} */ id) => /** @type {any} */ (window).ask(id), number);
      assert.equal(await ask(1), -32603);
      opened.limit.times = 0;
      assert.deepEqual([await ask(2), await opened.uncaught()], [{}, []]);
    });

    test('if the part for JSON-RPC does not load, each request is answered in its own form: as text, in a batch, wrapped; notifications are not', { timeout: 30_000 }, async (t) => {
      const opened = await failing(t, Infinity);
      if (!opened) return;
      const seen = await inLab(opened.page, async (lab) => {
        const host = await lab.createHost({ app: { id: 'lab', name: 'Laboratory', version: '1' } });
        const ping = { jsonrpc: '2.0', id: 'mine', method: 'ping' };
        const told = { jsonrpc: '2.0', method: 'notifications/initialized' };
        const wrap = (/** @type {any} */ payload) => ({ channel: 'c', type: 'mcp', direction: 'client-to-server', payload });
        return Promise.all([JSON.stringify(ping), [told, ping, { ...ping, id: 2 }], wrap(ping), wrap(JSON.stringify(ping)), told].map(async (message) => {
          const { port1, port2 } = new MessageChannel();
          host.acceptPort(port1);
          const heard = new Promise((resolve) => (port2.onmessage = ({ data }) => resolve(data)));
          port2.postMessage(message);
          return Promise.race([heard, new Promise((resolve) => setTimeout(resolve, message === told ? 4000 : 15_000, 'nothing'))]);
        }));
      });
      const answer = (/** @type {string | number} */ id) => [id, -32603];
      const short = (/** @type {any} */ { id, error }) => [id, error.code];
      const [text, batch, wrapped, wrappedText, none] = /** @type {any[]} */ (seen);
      assert.deepEqual(short(JSON.parse(text)), answer('mine'));
      assert.deepEqual(batch.map(short), [answer('mine'), answer(2)]);
      for (const { channel, type, direction, payload } of [wrapped, wrappedText]) {
        assert.deepEqual([channel, type, direction, short(payload)], ['c', 'mcp', 'server-to-client', answer('mine')]);
      }
      assert.equal(none, 'nothing');
      assert.deepEqual(await opened.uncaught(), []);
    });
  });
}
