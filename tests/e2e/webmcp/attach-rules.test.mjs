import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { attach } from 'caphost/automation';
import { clients, logged, serveTools } from './tools.mjs';

const cancelled = (/** @type {string} */ stop) => ({ success: false, cancelled: true, metadata: { stop } });

for (const { name, launch } of clients) {
  describe(`the rules of a call of a tool, over ${name}`, () => {
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

    /** @param {import('node:test').TestContext} t @returns {Promise<any>} */
    async function toolPage(t) {
      /** @type {any} */
      const page = await browser.newPage();
      t.after(() => Promise.race([page.close().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 3_000))]));
      await page.goto(server.url('/native'));
      return page;
    }

    test('a tool that was stopped in the page says how far, and later cancels say the same', async (t) => {
      const agent = await attach(await toolPage(t));
      for (const [said, stop] of [['terminated', 'terminated'], ['stopped', 'abandoned'], [7, 'abandoned'], [undefined, 'abandoned']]) {
        const callId = `ends ${said}`;
        assert.deepEqual(await agent.call('ends', { stop: said }, { callId }), cancelled(String(stop)));
        assert.deepEqual(await agent.cancel(callId), { callId, cancelled: true, metadata: { stop } });
      }
    });

    test('a tool is not invoked whose call was cancelled before', async (t) => {
      const page = await toolPage(t);
      const agent = await attach(page);
      const stop = new AbortController();
      const call = agent.call('hold', {}, { signal: stop.signal, callId: 'early' });
      stop.abort();
      assert.deepEqual(await call, cancelled('never-started'));
      assert.deepEqual((await agent.call('hold', {}, { timeout: 0 })).cancelled, true);
      assert.deepEqual(await agent.cancel('early'), { callId: 'early', cancelled: true, metadata: { stop: 'never-started' } });
    });

    test('parameters that do not fit the schema of a tool are refused, and a schema that is not valid is left to its tool', async (t) => {
      const agent = await attach(await toolPage(t));
      assert.deepEqual(await agent.call('typed', { n: 1 }), { success: true, data: { n: 1 } });
      assert.equal((await agent.call('typed', {})).error?.code, 'MISSING_PARAM');
      assert.deepEqual(await agent.call('odd', { n: 1 }), { success: true, data: { n: 1 } });
    });

    test('values that JSON cannot express are refused before they reach the browser', async (t) => {
      const agent = await attach(await toolPage(t));
      const { error } = await agent.call('echo', { it: new Map([[1, 2]]) });
      assert.equal(error?.code, 'INVALID_PARAMS');
      assert.match(error?.message ?? '', /JSON has nothing for a Map/);
    });

    test('of many calls and cancels in one turn, each call has one end, and its cancel says the same', async (t) => {
      const agent = await attach(await toolPage(t));
      const ids = Array.from({ length: 200 }, (_, index) => `burst ${index}`);
      const calls = ids.map((callId, index) => agent.call(index % 2 ? 'hold' : 'echo', { index }, { callId }));
      await new Promise((resolve) => setTimeout(resolve, 5));
      const confirmations = await Promise.all(ids.map((callId) => agent.cancel(callId)));
      const responses = await Promise.all(calls);
      for (const [index, response] of responses.entries()) {
        const confirmation = confirmations[index];
        assert.equal(confirmation?.cancelled, response.cancelled === true, `${index}`);
        if (response.cancelled) assert.deepEqual(confirmation?.metadata, response.metadata);
        else assert.deepEqual([response.data, confirmation?.reason], [{ index }, 'Operation already completed']);
      }
      for (const callId of ids) assert.equal((await agent.call('echo', {}, { callId })).error?.code, 'INVALID_PARAMS');
    });

    test('a cancel that the browser refuses is not confirmed, and says so', async (t) => {
      const page = await toolPage(t);
      // The browser refuses by itself only if the invocation ends at that moment.
      const opener = page.createCDPSession ? page : page.context();
      const name = page.createCDPSession ? 'createCDPSession' : 'newCDPSession';
      const open = opener[name].bind(opener);
      opener[name] = async (/** @type {any[]} */ ...given) => {
        const session = await open(...given);
        const send = session.send.bind(session);
        session.send = (/** @type {string} */ method, /** @type {any} */ params) =>
          send(method, method === 'WebMCP.cancelInvocation' ? { invocationId: 'none of these' } : params);
        return session;
      };
      t.after(() => { opener[name] = open; });
      const agent = await attach(page, { grace: 300 });
      const call = agent.call('hold', {}, { callId: 'held' });
      await logged(page, 'started');
      const { error, ...answer } = await agent.cancel('held');
      assert.deepEqual(answer, { callId: 'held', cancelled: false, reason: 'No confirmation from the app' });
      assert.equal(error?.code, 'TIMEOUT');
      assert.match(error?.message ?? '', /The browser does not cancel the tool "hold": /);
      await page.close();
      assert.equal((await call).success, false);
    });
  });
}
