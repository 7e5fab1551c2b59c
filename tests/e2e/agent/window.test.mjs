import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { launchPuppeteer } from '../support/browsers.mjs';
import { serveTwoOrigins } from '../support/static-server.mjs';
import { abandoned, confirmed } from './pages.mjs';

const pages = { '/empty': '<!doctype html><title>empty</title>' };

describe('agents in a page, of plain ABP apps', () => {
  /** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
  let browser;
  /** @type {Awaited<ReturnType<typeof serveTwoOrigins>>} */
  let servers;
  before(async () => {
    [browser, servers] = await Promise.all([launchPuppeteer(), serveTwoOrigins({ pages })]);
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

  /** The place of the plain app: on this origin, or on another. @type {[string, () => string][]} */
  const places = [
    ['of the same origin', () => servers.first.origin],
    ['of another origin', () => servers.second.origin],
  ];
  for (const [place, origin] of places) {
    describe(`connectWindow() to a frame ${place}`, () => {
      test('works while the frame is still loading', async (t) => {
        const page = await agentPage(t);
        const result = await page.evaluate(async (origin) => {
          const { caphost, frameOf } = /** @type {any} */ (window);
          const frame = await frameOf(`${origin}/plain-app/?messages=only`);
          const agent = await caphost.connectWindow(frame.contentWindow, { origin });
          const echo = await agent.call('echo', { bytes: Uint8Array.of(1, 2) });
          const stop = new AbortController();
          const progress = await new Promise((resolve) => {
            void agent.call('hold', {}, { callId: 'one', signal: stop.signal, onProgress: resolve });
          });
          stop.abort('enough');
          const held = agent.call('hold', {}, { callId: 'two' });
          await agent.call('echo');
          const answer = await agent.cancel('two');
          const again = await agent.cancel('one');
          const nothing = await agent.cancel('nothing');
          await agent.shutdown();
          return { app: agent.app.id, bytes: [...echo.data.bytes], progress: progress.stage, answer, again, held: await held, nothing, after: await agent.call('echo') };
        }, origin());
        assert.deepEqual(result, {
          app: 'plain',
          bytes: [1, 2],
          progress: 'holding',
          answer: confirmed('two', 'abandoned'),
          again: confirmed('one', 'abandoned'),
          held: abandoned,
          nothing: { callId: 'nothing', cancelled: false, reason: 'Operation not found' },
          after: { success: false, error: { code: 'NOT_INITIALIZED', message: 'The session was shut down', retryable: true } },
        });
      });

      /** @type {[string, (frame: any, elsewhere: string) => void][]} */
      const ends = [
        ['removed', (frame) => frame.remove()],
        ['reloaded', (frame) => { frame.src = `${frame.src}&again`; }],
        ['navigated', (frame, elsewhere) => { frame.src = elsewhere; }],
        ['blanked', (frame) => { frame.src = 'about:blank'; }],
      ];
      for (const [end, make] of ends) {
        test(`a frame that is ${end} settles every pending call with DISCONNECTED`, async (t) => {
          const page = await agentPage(t);
          const codes = await page.evaluate(async (origin, elsewhere, source) => {
            const { caphost, frameOf } = /** @type {any} */ (window);
            const frame = await frameOf(`${origin}/plain-app/?messages=only&cancel=never`, true);
            const agent = await caphost.connectWindow(frame.contentWindow, { origin });
            const held = agent.call('hold', {}, { callId: 'held' });
            await agent.call('echo');
            // This cancel answers the probe too, so that later silence is meaningful.
            await agent.cancel('nothing');
            const cancel = agent.cancel('held');
            (0, eval)(source)(frame, elsewhere);
            return [(await held).error?.code, (await cancel).error?.code, await agent.closed, (await agent.call('echo')).error?.code];
          }, origin(), servers.second.url('/empty'), String(make));
          assert.deepEqual(codes, ['DISCONNECTED', 'DISCONNECTED', 'disconnected', 'DISCONNECTED']);
        });
      }

      test('a page that never answers, a page that answers late, and a page with a session', async (t) => {
        const page = await agentPage(t);
        const result = await page.evaluate(async (origin) => {
          const { caphost, frameOf } = /** @type {any} */ (window);
          const failure = (/** @type {Promise<unknown>} */ promise) => promise.then(() => 'connected', ({ code }) => code);
          const empty = await frameOf(`${origin}/empty`, true);
          const none = await failure(caphost.connectWindow(empty.contentWindow, { origin, connectTimeout: 300 }));
          const frame = await frameOf(`${origin}/plain-app/?messages=only`, true);
          const agent = await caphost.connectWindow(frame.contentWindow, { origin });
          const second = await failure(caphost.connectWindow(frame.contentWindow, { origin }));
          const echo = await agent.call('echo', { a: 1 });
          const gone = await frameOf(`${origin}/empty`, true);
          const { contentWindow } = gone;
          const removed = failure(caphost.connectWindow(contentWindow, { origin }));
          gone.remove();
          return { none, second, echo: echo.data, removed: await removed };
        }, origin());
        assert.deepEqual(result, { none: 'TIMEOUT', second: 'ALREADY_INITIALIZED', echo: { a: 1 }, removed: 'DISCONNECTED' });
      });
    });
  }

  test('messages go only to the given origin and come only from there', async (t) => {
    const page = await agentPage(t);
    const result = await page.evaluate(async (origin) => {
      const { caphost, frameOf } = /** @type {any} */ (window);
      const failure = (/** @type {Promise<unknown>} */ promise) => promise.then(() => 'connected', ({ code }) => code);
      const frame = await frameOf(`${origin}/plain-app/?messages=only`, true);
      const wrong = await failure(caphost.connectWindow(frame.contentWindow, { connectTimeout: 300 }));
      const bad = await Promise.all(['', 'nonsense', 'data:,x', 7].map((it) => failure(caphost.connectWindow(frame.contentWindow, { origin: it }))));
      const whoever = await caphost.connectWindow(frame.contentWindow, { origin: '*' });
      const held = whoever.call('hold', {}, { callId: 'held' });
      await whoever.call('echo');
      // One forged message comes from the right window with the wrong origin, the other from the wrong
      // window. Neither counts.
      const forged = { type: 'capabilities/cancel-result', id: '3', timestamp: 0, payload: { callId: 'held', cancelled: true, metadata: { stop: 'returned' } } };
      postMessage(forged, '*');
      dispatchEvent(new MessageEvent('message', { data: forged, source: frame.contentWindow, origin: 'https://elsewhere.example' }));
      const answer = await whoever.cancel('held');
      return { wrong, bad, held: await held, answer };
    }, servers.second.origin);
    assert.deepEqual(result, { wrong: 'TIMEOUT', bad: Array(4).fill('INVALID_PARAMS'), held: abandoned, answer: confirmed('held', 'abandoned') });
  });

  test('a frame that is not in the document has no window', async (t) => {
    const page = await agentPage(t);
    const errors = await page.evaluate(() => {
      const { caphost } = /** @type {any} */ (window);
      const failure = (/** @type {Promise<unknown>} */ promise) => promise.then(() => undefined, ({ code, message }) => ({ code, message }));
      return Promise.all([document.createElement('iframe').contentWindow, undefined, {}].map((it) => failure(caphost.connectWindow(it))));
    });
    const other = 'connectWindow takes a window, such as iframe.contentWindow';
    const messages = ['the frame has no window: it is not in the document', other, other];
    assert.deepEqual(errors, messages.map((message) => ({ code: 'INVALID_PARAMS', message })));
  });

  test('connectWindow() to a popup, which then closes', async (t) => {
    const page = await agentPage(t);
    const result = await page.evaluate(async () => {
      const { caphost } = /** @type {any} */ (window);
      const popup = window.open('/plain-app/?messages=only');
      const agent = await caphost.connectWindow(popup);
      const held = agent.call('hold');
      const echo = await agent.call('echo', { a: 1 });
      popup?.close();
      return { echo: echo.data, held: (await held).error.code };
    });
    assert.deepEqual(result, { echo: { a: 1 }, held: 'DISCONNECTED' });
  });

  test('connectPort() to a Worker, which is then ended', async (t) => {
    const page = await agentPage(t);
    const result = await page.evaluate(async () => {
      const { caphost } = /** @type {any} */ (window);
      const worker = new Worker('/plain-app/worker.js', { type: 'module' });
      const agent = await caphost.connectPort(worker, { liveness: 400 });
      const buffer = Uint8Array.of(1, 2).buffer;
      const { data } = await agent.call('bytes', { bytes: buffer }, { transfer: [buffer] });
      const stop = new AbortController();
      const held = agent.call('hold', {}, { callId: 'held', signal: stop.signal });
      await agent.call('echo');
      stop.abort();
      const first = await held;
      const again = await agent.cancel('held');
      const lost = agent.call('hold');
      await agent.call('echo');
      worker.terminate();
      return { moved: buffer.byteLength, bytes: [...new Uint8Array(data.bytes)], first, again, lost: (await lost).error.code };
    });
    assert.deepEqual(result, { moved: 0, bytes: [2, 3], first: abandoned, again: confirmed('held', 'abandoned'), lost: 'DISCONNECTED' });
  });

  test('every call aborted while its answer is on the way agrees with a later cancel', async (t) => {
    const page = await agentPage(t);
    const disagreements = await page.evaluate(async () => {
      const { caphost, frameOf } = /** @type {any} */ (window);
      const frame = await frameOf('/plain-app/?messages=only', true);
      const agent = await caphost.connectWindow(frame.contentWindow);
      const one = async (/** @type {number} */ number) => {
        const callId = `call ${number}`;
        const stop = new AbortController();
        const call = agent.call('echo', {}, { callId, signal: stop.signal });
        for (let turns = number % 7; turns > 0; turns -= 1) await agent.call('echo');
        stop.abort();
        const [response, answer] = await Promise.all([call, agent.cancel(callId)]);
        return (response.cancelled ?? false) === answer.cancelled ? [] : [{ response, answer }];
      };
      return (await Promise.all(Array.from({ length: 300 }, (_, number) => one(number)))).flat();
    });
    assert.deepEqual(disagreements, []);
  });
});
