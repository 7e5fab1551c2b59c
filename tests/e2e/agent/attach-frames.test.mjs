import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { attach } from 'caphost/automation';
import { automationClients } from '../support/browsers.mjs';
import { serveTwoOrigins } from '../support/static-server.mjs';
import { abandoned, codeOf } from './pages.mjs';

/** A page with a host of this package, whose capability reports what it does. @param {string} id */
const hostPage = (id) => `<!doctype html><title>${id}</title><script type="module">
  import { createHost } from '/caphost/index.js';
  const host = await createHost({ app: { id: '${id}', name: '${id}', version: '1' } });
  host.register('hold', {}, async (_params, { signal, progress, elicit }) => {
    progress({ progress: 1, total: 4 });
    host.notify('held', { by: '${id}' });
    const answer = await elicit({ message: '${id}?' });
    progress({ progress: 2, stage: answer.data });
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  });
  host.register('loop', {}, () => { for (let round = 0; ; round = (round + 1) | 0); });
  host.expose();
</script>`;

const pages = {
  '/empty': '<!doctype html><title>empty</title>',
  '/top': hostPage('top'),
  '/inner': hostPage('inner'),
};

for (const { name, launch } of automationClients) {
  describe(`attach() over ${name}, to a frame`, () => {
    /** @type {Awaited<ReturnType<typeof launch>>} */
    let browser;
    /** @type {Awaited<ReturnType<typeof serveTwoOrigins>>} */
    let servers;
    before(async () => {
      [browser, servers] = await Promise.all([launch(), serveTwoOrigins({ pages })]);
    });
    after(async () => {
      await browser.close();
      await servers.close();
    });

    /**
     * @param {import('node:test').TestContext} t
     * @param {string} page
     * @param {string} frame
     * @returns {Promise<{ page: any, frame: any }>}
     */
    async function framed(t, page, frame) {
      const opened = /** @type {any} */ (await browser.newPage());
      t.after(() => opened.close());
      await opened.goto(servers.first.url(page));
      await opened.evaluate((/** @type {string} */ url) => new Promise((resolve) => {
        const made = Object.assign(document.createElement('iframe'), { src: url, onload: resolve });
        document.body.append(made);
      }), frame);
      return { page: opened, frame: opened.frames().find((/** @type {any} */ it) => it.url() === frame) };
    }

    for (const where of /** @type {const} */ (['first', 'second'])) {
      const place = where === 'first' ? 'of the same origin' : 'of another origin';

      test(`calls, progress, notifications, questions and cancels, ${place}`, async (t) => {
        const { frame } = await framed(t, '/empty', servers[where].url('/plain-app/'));
        /** @type {unknown[]} */
        const notifications = [];
        const agent = await attach(frame, {
          onNotification: (event, data) => notifications.push([event, data]),
          onElicitation: ({ message }) => `${message} Yes.`,
        });
        assert.equal(agent.app.id, 'plain');
        assert.deepEqual((await agent.call('echo', { a: 1 })).data, { a: 1 });
        const stop = new AbortController();
        /** @type {Promise<any> | undefined} */
        let call;
        const info = await new Promise((onProgress) => (call = agent.call('hold', {}, { callId: 'held', signal: stop.signal, onProgress })));
        assert.deepEqual(info, { operationId: 'held', progress: 1, total: 4, stage: 'holding' });
        stop.abort();
        assert.deepEqual(await call, abandoned);
        await agent.call('announce', { news: 1 });
        assert.deepEqual(notifications, [['app/announced', { news: 1 }]]);
        assert.deepEqual((await agent.call('ask', { message: 'Sure?' })).data, { success: true, data: 'Sure? Yes.' });
        await agent.shutdown();
        const again = await attach(frame, { onElicitation: () => 'Again.' });
        assert.deepEqual((await again.call('ask', { message: 'Sure?' })).data, { success: true, data: 'Again.' });
        await again.shutdown();
      });

      test(`a frame that is removed ends its session, ${place}`, async (t) => {
        const { page, frame } = await framed(t, '/empty', servers[where].url('/plain-app/'));
        const agent = await attach(frame);
        const held = agent.call('hold');
        await agent.call('echo');
        await page.evaluate(() => document.querySelector('iframe')?.remove());
        assert.equal(codeOf(await held), 'DISCONNECTED');
        assert.equal(await agent.closed, 'disconnected');
        await assert.rejects(attach(frame), { code: 'DISCONNECTED' });
      });
    }

    test('a page and its frame are told apart, each with an agent', async (t) => {
      const { page, frame } = await framed(t, '/top', servers.first.url('/inner'));
      /** @type {string[]} */
      const heard = [];
      const run = async (/** @type {any} */ target, /** @type {string} */ id) => {
        const agent = await attach(target, {
          onNotification: (event, { by }) => heard.push(`${id}: ${event} by ${by}`),
          onElicitation: ({ message }) => `${id}, asked ${message}`,
        });
        // Both use the same callId. Nothing of one reaches the other.
        const stop = new AbortController();
        const told = await new Promise((resolve) => {
          void agent.call('hold', {}, { callId: 'same', signal: stop.signal, onProgress: (info) => info.stage && resolve(info.stage) });
        });
        return { agent, stop, told };
      };
      const [top, inner] = await Promise.all([run(page, 'top'), run(frame, 'inner')]);
      assert.deepEqual([top.told, inner.told], ['top, asked top?', 'inner, asked inner?']);
      assert.deepEqual(heard.sort(), ['inner: held by inner', 'top: held by top']);
      inner.stop.abort();
      assert.equal((await inner.agent.cancel('same')).metadata?.stop, 'returned');
      await inner.agent.shutdown();
      assert.equal((await top.agent.cancel('same')).metadata?.stop, 'returned');
    });

    test('the main frame is the page', async (t) => {
      const { page } = await framed(t, '/top', servers.first.url('/empty'));
      /** @param {any} target */
      const heard = async (target) => {
        const agent = await attach(target, { onElicitation: () => 'yes' });
        const told = await new Promise((resolve) => {
          void agent.call('hold', {}, { onProgress: (info) => info.stage && resolve(info.stage) });
        });
        await assert.rejects(attach(page.mainFrame()), { code: 'ALREADY_INITIALIZED' });
        assert.equal(codeOf(await agent.call('nothing')), 'UNKNOWN_CAPABILITY');
        await agent.shutdown();
        return told;
      };
      assert.deepEqual([await heard(page.mainFrame()), await heard(page)], ['yes', 'yes']);
    });

    test("a call that holds the frame's thread is ended", { timeout: 20_000 }, async (t) => {
      const { frame } = await framed(t, '/empty', servers.first.url('/inner'));
      const agent = await attach(frame);
      const stop = new AbortController();
      const call = agent.call('loop', {}, { signal: stop.signal });
      setTimeout(() => stop.abort(), 300);
      assert.equal((await call).metadata?.stop, 'terminated');
      await agent.shutdown();
    });

    test('the error of an attach to the page says that the page has no app, and which frame has one', async (t) => {
      const { page, frame } = await framed(t, '/empty', servers.second.url('/plain-app/'));
      const late = { connectTimeout: 1500 };
      await assert.rejects(attach(page, late), {
        code: 'TIMEOUT',
        message: `No app answered within 1500 ms: the page has no window.abp, but its frame ${frame.url()} has: attach to that frame`,
      });
      // The frame is found by its own address. The main frame is the page.
      const { page: alone, frame: empty } = await framed(t, '/empty', servers.second.url('/empty'));
      const message = (/** @type {string} */ what) => `No app answered within 1500 ms: the ${what} has no window.abp; its app must call host.expose()`;
      await Promise.all([
        assert.rejects(attach(alone, late), { code: 'TIMEOUT', message: message('page') }),
        assert.rejects(attach(empty, late), { code: 'TIMEOUT', message: message('frame') }),
      ]);
    });
  });
}
