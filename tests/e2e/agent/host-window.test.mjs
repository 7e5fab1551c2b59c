import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { launchPuppeteer } from '../support/browsers.mjs';
import { serveTwoOrigins } from '../support/static-server.mjs';
import { confirmed } from './pages.mjs';

describe('connectWindow() to a host of this package', () => {
  /** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
  let browser;
  /** @type {Awaited<ReturnType<typeof serveTwoOrigins>>} */
  let servers;
  before(async () => {
    [browser, servers] = await Promise.all([launchPuppeteer(), serveTwoOrigins({ pages: { '/empty': '<!doctype html>' } })]);
  });
  after(async () => {
    await browser.close();
    await servers.close();
  });

  /** @param {import('node:test').TestContext} t */
  async function agentPage(t) {
    const page = await browser.newPage();
    t.after(() => page.close());
    await page.goto(servers.first.url('/agent/'));
    await page.evaluate(() => /** @type {any} */ (window).ready);
    return page;
  }

  /** The place of the host: on this origin, or on another. @type {[string, () => string][]} */
  const places = [
    ['of the same origin', () => servers.first.origin],
    ['of another origin', () => servers.second.origin],
  ];
  for (const [place, origin] of places) {
    /** @type {[string, (frame: any, elsewhere: string) => void][]} */
    const ends = [
      ['removed', (frame) => frame.remove()],
      ['reloaded', (frame) => { frame.src = `${frame.src}&again`; }],
      ['navigated', (frame, elsewhere) => { frame.src = elsewhere; }],
      ['blanked', (frame) => { frame.src = 'about:blank'; }],
    ];
    for (const [end, make] of ends) {
      test(`a frame ${place} that is ${end} settles every pending call with DISCONNECTED`, async (t) => {
        const page = await agentPage(t);
        const codes = await page.evaluate(async (origin, elsewhere, source) => {
          const { caphost, frameOf } = /** @type {any} */ (window);
          const frame = await frameOf(`${origin}/host/?origins=${location.origin}`);
          const agent = await caphost.connectWindow(frame.contentWindow, { origin });
          const held = agent.call('test.hold', {}, { callId: 'held' });
          await agent.call('test.started', { callId: 'held' });
          (0, eval)(source)(frame, elsewhere);
          return [(await held).error?.code, await agent.closed, (await agent.call('test.echo')).error?.code];
        }, origin(), servers.second.url('/empty'), String(make));
        assert.deepEqual(codes, ['DISCONNECTED', 'disconnected', 'DISCONNECTED']);
      });
    }
  }

  test('a host that answers too late keeps no session', async (t) => {
    const page = await agentPage(t);
    // A page of another site has a thread of its own.
    const origin = servers.second.origin.replace('127.0.0.1', 'localhost');
    await page.evaluate((src) => /** @type {any} */ (window).frameOf(src), `${origin}/host/?origins=${servers.first.origin}`);
    const app = await page.waitForFrame((frame) => frame.url().startsWith(origin));
    await app.waitForSelector('html[data-ready]');
    for (let round = 0; round < 3; round += 1) {
      await app.evaluate(() => void setTimeout(() => { for (const end = performance.now() + 1500; performance.now() < end;); }));
      const code = await page.evaluate(async (origin) => {
        const { caphost, frames } = /** @type {any} */ (window);
        return caphost.connectWindow(frames[0], { origin, connectTimeout: 200 }).then(() => 'connected', (/** @type {any} */ error) => error.code);
      }, origin);
      assert.equal(code, 'TIMEOUT');
      // The thread is free again, and has handled all messages that arrived meanwhile.
      const sessions = await app.evaluate(() => new Promise((resolve) => setTimeout(() => resolve(/** @type {any} */ (window).host.stats().sessions), 300)));
      assert.equal(sessions, 0);
    }
  });

  test('a host that closes says so', async (t) => {
    const page = await agentPage(t);
    const result = await page.evaluate(async () => {
      const { caphost, frameOf } = /** @type {any} */ (window);
      const frame = await frameOf('/host/?');
      const agent = await caphost.connectWindow(frame.contentWindow);
      const held = agent.call('test.hold', {}, { callId: 'held' });
      await agent.call('test.started', { callId: 'held' });
      frame.contentWindow.host.close();
      const response = await held;
      return { settled: response.cancelled === true || response.error?.code === 'DISCONNECTED', closed: await agent.closed };
    });
    assert.deepEqual(result, { settled: true, closed: 'disconnected' });
  });

  test('no other script of either page receives the messages', async (t) => {
    const page = await agentPage(t);
    const heard = await page.evaluate(async () => {
      const { caphost, frameOf } = /** @type {any} */ (window);
      const frame = await frameOf('/host/?');
      /** @type {string[]} */
      const types = [];
      const listen = (/** @type {Window} */ target) => target.addEventListener('message', ({ data }) => types.push(data?.type));
      await new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
      listen(window);
      listen(frame.contentWindow);
      const agent = await caphost.connectWindow(frame.contentWindow);
      await agent.call('test.echo', { secret: 1 });
      await agent.cancel('nothing');
      await agent.shutdown();
      // A host announces itself to the clients of MCP-B.
      return [...new Set(types)].filter((type) => type !== 'mcp');
    });
    assert.deepEqual(heard, ['initialize']);
  });

  test('two agents of one page have sessions of their own', async (t) => {
    const page = await agentPage(t);
    const result = await page.evaluate(async () => {
      const { caphost, frameOf } = /** @type {any} */ (window);
      const frame = await frameOf('/host/?');
      const [first, second] = await Promise.all([caphost.connectWindow(frame.contentWindow), caphost.connectWindow(frame.contentWindow)]);
      const held = first.call('test.hold', {}, { callId: 'held' });
      await first.call('test.started', { callId: 'held' });
      const strange = await second.cancel('held');
      const own = await first.cancel('held');
      return { different: first.sessionId !== second.sessionId, strange: strange.reason, own, held: await held };
    });
    assert.deepEqual(result, { different: true, strange: 'Operation not found', own: confirmed('held', 'returned'), held: { success: false, cancelled: true, metadata: { stop: 'returned' } } });
  });

  test('data is moved in both directions if the caller asks for it', async (t) => {
    const page = await agentPage(t);
    const result = await page.evaluate(async () => {
      const { caphost, frameOf } = /** @type {any} */ (window);
      const frame = await frameOf('/host/?');
      const agent = await caphost.connectWindow(frame.contentWindow);
      const { buffer } = Uint8Array.of(1, 2, 3);
      const image = await createImageBitmap(new ImageData(3, 2));
      const stream = new ReadableStream({ start(controller) { controller.enqueue('streamed'); controller.close(); } });
      const { data } = await agent.call('test.echo', { buffer, image, stream }, { transfer: [buffer, image, stream] });
      const read = await data.stream.getReader().read();
      const copied = Uint8Array.of(7).buffer;
      await agent.call('test.echo', { copied });
      return { moved: [buffer.byteLength, image.width], bytes: [...new Uint8Array(data.buffer)], image: [data.image.width, data.image.height], read: read.value, kept: copied.byteLength };
    });
    assert.deepEqual(result, { moved: [0, 0], bytes: [1, 2, 3], image: [3, 2], read: 'streamed', kept: 1 });
  });
});
