import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { attach } from 'caphost/automation';
import { clients, logged, serveTools } from './tools.mjs';

// The browser tells a tool to stop, and does not report the outcome.
const metadata = { stop: 'abandoned' };
const cancelled = { success: false, cancelled: true, metadata };

for (const { name, launch } of clients) {
  describe(`attach() over ${name}, to a page that has tools and no app`, () => {
    /** @type {Awaited<ReturnType<typeof launch>>} */
    let browser;
    /** @type {import('../support/static-server.mjs').StaticServer} */
    let server;
    before(async () => {
      [browser, server] = await Promise.all([launch(), serveTools()]);
    });
    after(async () => {
      await browser.close();
      await server.close();
    });

    /** @param {import('node:test').TestContext} t @param {import('caphost/automation').ConnectOptions} [options] */
    async function attached(t, options) {
      /** @type {any} */
      const page = await browser.newPage();
      t.after(() => Promise.race([page.close().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 3_000))]));
      await page.goto(server.url('/native'));
      return { page, agent: await attach(page, options) };
    }

    test('calls, and gets data and errors with their messages', async (t) => {
      const { agent } = await attached(t);
      assert.ok(agent.capabilities.some((it) => it.name === 'hold'));
      const { name, description, available, inputSchema } = /** @type {any} */ (await agent.describeCapability('hold'));
      assert.deepEqual({ name, description, available, type: inputSchema.type }, { name: 'hold', description: 'hold', available: true, type: 'object' });
      assert.deepEqual(await agent.call('echo', { a: [1, null] }), { success: true, data: { a: [1, null] } });
      assert.deepEqual(await agent.call('mcp'), { success: true, data: 'as text' });
      const broken = await agent.call('broken');
      assert.deepEqual([broken.error?.code, broken.error?.message], ['OPERATION_FAILED', 'The disk is full']);
      assert.equal((await agent.call('polite')).error?.message, 'Not today');
      assert.equal((await agent.call('nothing')).error?.code, 'UNKNOWN_CAPABILITY');
    });

    test('a cancel is confirmed and stops the work, and a repeated cancel gets the same answer', async (t) => {
      const { page, agent } = await attached(t);
      const call = agent.call('hold', {}, { callId: 'h' });
      await logged(page, 'started');
      assert.deepEqual(await agent.cancel('h', 'enough'), { callId: 'h', cancelled: true, metadata });
      assert.deepEqual(await call, cancelled);
      await logged(page, 'stopped');
      assert.deepEqual(await agent.cancel('h'), { callId: 'h', cancelled: true, metadata });
      await agent.call('echo', {}, { callId: 'e' });
      assert.deepEqual(await agent.cancel('e'), { callId: 'e', cancelled: false, reason: 'Operation already completed' });
      assert.deepEqual(await agent.cancel('x'), { callId: 'x', cancelled: false, reason: 'Operation not found' });
      assert.equal((await agent.call('echo', {}, { callId: 'e' })).error?.code, 'INVALID_PARAMS');
    });

    test('an abort and a timeout stop the work in the page', async (t) => {
      const { page, agent } = await attached(t);
      const stop = new AbortController();
      const aborted = agent.call('hold', {}, { signal: stop.signal });
      await logged(page, 'started');
      stop.abort('enough');
      assert.deepEqual(await aborted, cancelled);
      await logged(page, 'stopped');
      await page.evaluate(() => void (/** @type {any} */ (window).log.length = 0));
      assert.deepEqual(await agent.call('hold', {}, { timeout: 50 }), cancelled);
      await logged(page, 'stopped');
    });

    test('a shutdown stops the calls in flight', async (t) => {
      const { page, agent } = await attached(t);
      const call = agent.call('hold');
      await logged(page, 'started');
      await agent.shutdown();
      assert.deepEqual(await call, cancelled);
      await logged(page, 'stopped');
      assert.equal(await agent.closed, 'shutdown');
    });

    test('a navigation and a closed page settle every call', async (t) => {
      for (const leave of ['goto', 'reload', 'close']) {
        const { page, agent } = await attached(t);
        const call = agent.call('hold');
        await logged(page, 'started');
        const left = leave === 'goto' ? page.goto(server.url('/empty')) : page[leave]();
        assert.equal((await call).error?.code, 'DISCONNECTED', leave);
        await left.catch(() => {});
        assert.equal(await agent.closed, 'disconnected');
      }
    });

    test('a frame that is left settles the calls of its tools, and no others', async (t) => {
      /** @type {any[]} */
      const told = [];
      const { page, agent } = await attached(t, { onNotification: (_, data) => told.push(data) });
      for (const leave of ['src', 'remove']) {
        await page.evaluate(async () => {
          const frame = document.createElement('iframe');
          frame.src = '/native?hold=framed';
          document.body.append(frame);
          await new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
        });
        // The browser reports a frame's tools when the frame has loaded, or a moment later.
        while (!told.at(-1)?.added.includes('framed')) await new Promise((resolve) => setTimeout(resolve, 5));
        const outer = agent.call('hold', {}, { callId: `outer ${leave}` });
        const call = agent.call('framed');
        await page.evaluate(async (/** @type {string} */ how) => {
          const frame = /** @type {HTMLIFrameElement} */ (document.querySelector('iframe'));
          while (!(/** @type {any} */ (frame.contentWindow).log.includes('started'))) await new Promise((resolve) => setTimeout(resolve, 5));
          if (how === 'remove') frame.remove();
          else frame.src = '/empty';
        }, leave);
        assert.equal((await call).error?.code, 'DISCONNECTED', leave);
        assert.equal((await agent.call('framed')).error?.code, 'UNKNOWN_CAPABILITY', leave);
        assert.deepEqual(await agent.cancel(`outer ${leave}`), { callId: `outer ${leave}`, cancelled: true, metadata }, leave);
        assert.deepEqual(await outer, cancelled);
        await page.evaluate(() => document.querySelector('iframe')?.remove());
      }
      assert.deepEqual(told.at(-1), { added: [], removed: ['framed'] });
      assert.deepEqual((await agent.call('echo', { n: 1 })).data, { n: 1 });
    });

    test('a shutdown stops calls that were just made', async (t) => {
      const { page, agent } = await attached(t);
      const call = agent.call('hold');
      await agent.shutdown();
      assert.deepEqual(await call, cancelled);
      assert.equal(await page.evaluate(() => /** @type {any} */ (window).log.at(-1)), 'stopped');
    });

    test('the agent is notified of tools that come and go', async (t) => {
      /** @type {any[]} */
      const told = [];
      const { page, agent } = await attached(t, { onNotification: (event, data) => told.push([event, data]) });
      await page.evaluate(() => {
        const tool = { name: 'late', description: 'late', inputSchema: { type: 'object' }, execute: async () => 1 };
        return /** @type {any} */ (document).modelContext.registerTool(tool);
      });
      assert.deepEqual(await agent.call('late'), { success: true, data: 1 });
      assert.deepEqual(told, [['notifications/capabilities/list_changed', { added: ['late'], removed: [] }]]);
      assert.ok(agent.capabilities.some((it) => it.name === 'late'));
    });

    test('if there is an app, the app is called', async (t) => {
      /** @type {any} */
      const page = await browser.newPage();
      t.after(() => page.close().catch(() => {}));
      await page.goto(server.url('/hosted'));
      const agent = await attach(page);
      assert.equal(agent.app.id, 'tools');
      assert.deepEqual((await agent.call('math.double', { n: 4 })).data, { doubled: 8 });
    });
  });
}
